import { createHash } from 'node:crypto';
import { forgetKeys } from '../../src/retention/forget-keys.ts';
import type { TenantRetention } from '../../src/retention/retention-settings.ts';
import { scrubPayloads } from '../../src/retention/scrub-payloads.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';

export const PAYLOAD_DAYS = 30;
export const KEY_DAYS = 400;

export const RETENTION: TenantRetention = {
  id: 'demo',
  payloadRetentionDays: PAYLOAD_DAYS,
  keyRetentionDays: KEY_DAYS,
  afterKeyRetention: 'tombstone',
};

export const FINAL = [
  'accepted',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'rejected',
  'expired',
  'cancelled',
  'dead',
] as const;
export const IN_MOTION = ['awaiting-approval', 'queued', 'claimed', 'calling', 'unknown'] as const;

/** One whole sweep. Returns how many pages it took. */
export async function scrub(
  rig: DispatchRig,
  { pageSize = 100, retention = RETENTION }: { pageSize?: number; retention?: TenantRetention } = {},
): Promise<number> {
  return await pagesOf(scrubPayloads(rig.dataSource, [retention], pageSize));
}

export async function forget(
  rig: DispatchRig,
  { pageSize = 100, retention = RETENTION }: { pageSize?: number; retention?: TenantRetention } = {},
): Promise<number> {
  return await pagesOf(forgetKeys(rig.dataSource, [retention], pageSize));
}

async function pagesOf(sweep: AsyncGenerator<void, void, undefined>): Promise<number> {
  let pages = 0;
  while ((await sweep.next()).done !== true) pages += 1;
  return pages;
}

/** Puts an operation into a state since so many days. Address and request stay as they are. */
export async function put(rig: DispatchRig, name: string, state: string, days: number): Promise<void> {
  await rig.query(
    `UPDATE operations
     SET state = $2, state_reason = 'by a test', claim_seq = 1, attempts = 1,
         changed_at = now() - make_interval(days => $3),
         approval_object = CASE WHEN $2 = 'awaiting-approval' THEN 'o' END,
         approval_revision = CASE WHEN $2 = 'awaiting-approval' THEN 1 END,
         claimed_by = CASE WHEN $2 IN ('claimed', 'calling') THEN gen_random_uuid() END,
         lease_until = CASE WHEN $2 IN ('claimed', 'calling') THEN now() + interval '1 hour' END
     WHERE operation_key = $1`,
    [name, state, days],
  );
}

/** All that may hang on an operation: an attempt, evidence, a receipt, a checkpoint and a step's reference. */
export async function furnish(rig: DispatchRig, name: string): Promise<void> {
  const { operation_id: id } = await rig.operation(name);
  const content = JSON.stringify({ email: `${name}@example.com` });
  await rig.query(
    `WITH i AS (SELECT $1::uuid AS id),
     a AS (INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, ended_at, outcome, diagnostic)
           SELECT 'demo', id, 1, 'main', id, now(), 'accepted', 'said so' FROM i),
     e AS (INSERT INTO evidence (tenant_id, operation_id, step, outcome) SELECT 'demo', id, 'receipt', 'accepted' FROM i),
     r AS (INSERT INTO receipts (tenant_id, provider, receipt_id, operation_id, type, occurred_at, content)
           SELECT 'demo', 'main', 'receipt-' || id, id, 'accepted', now(), $2::json FROM i),
     s AS (INSERT INTO step_references (tenant_id, reference, operation_id, step) SELECT 'demo', $3::uuid, id, 0 FROM i)
     INSERT INTO checkpoints (tenant_id, operation_id, step, result, claim_seq) SELECT 'demo', id, 0, $2::json, 1 FROM i`,
    [id, content, uuidOf(id)],
  );
}

function uuidOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Rows of each table that belong to operations. */
export async function rowsKept(rig: DispatchRig): Promise<Record<string, number>> {
  const tables = [
    'operations',
    'operation_requests',
    'attempts',
    'evidence',
    'receipts',
    'checkpoints',
    'step_references',
    'operation_tombstones',
    'campaigns',
    'campaign_revisions',
    'campaign_exclusions',
    'approvals',
  ];
  const counts = tables.map((table) => `(SELECT count(*)::integer FROM ${table}) AS ${table}`);
  const [row] = await rig.query<Record<string, number>>(`SELECT ${counts.join(', ')}`);
  return Object.fromEntries(Object.entries(row ?? {}).filter(([, count]) => count > 0));
}

/** A campaign that ended so many days ago, its operations accepted at the same time. */
export async function endedCampaign(
  rig: DispatchRig,
  campaign: string,
  names: readonly string[],
  days: number,
): Promise<void> {
  await rig.campaign(campaign, names);
  await rig.query(
    `UPDATE campaigns SET state = 'completed', ended_at = now() - make_interval(days => $2) WHERE campaign_id = $1`,
    [campaign, days],
  );
  for (const name of names) await put(rig, name, 'accepted', days);
}
