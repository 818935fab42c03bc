import { writeAudit, type AuditEntry } from '../../audit/write-audit.ts';
import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { scrubAddresses } from '../../mail/scrub-addresses.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { operationEvent } from '../operation-events.ts';
import { operationId } from '../operation-id.ts';
import { REDRIVABLE_STATES, type OperationState } from '../operation.states.ts';

export interface Redrive {
  readonly tenantId: string;
  /** The name of the token. */
  readonly actor: string;
  readonly reason: string;
  /** Of the operations that are started again; null: what lies ahead stays, what has passed is dropped. */
  readonly deadline: Date | null;
  /** They are spread over time; null: all at once. */
  readonly perSecond: number | null;
  /** The providers that the tenant may use. */
  readonly providers: readonly string[];
  /** Of the request that asks for it. */
  readonly causationId: string;
}

/** `claimNumber`: as whoever decides has seen it. */
export interface RedrivenOperation {
  readonly operationKey: string;
  readonly claimNumber: string;
}

/** Why an operation was left as it is. */
export type RedriveRefusal =
  | 'outdated'
  | 'not-redrivable'
  | 'refused-at-arrival'
  | 'scrubbed'
  | 'campaign-not-sending'
  | 'provider-not-configured';

export interface PresentOperation {
  readonly operationId: string;
  readonly state: OperationState;
  readonly claimNumber: string;
}

export type RedriveOutcome =
  | {
      readonly kind: 'redriven';
      readonly now: PresentOperation;
      readonly notBefore: Date;
      readonly deadline: Date | null;
    }
  | { readonly kind: RedriveRefusal; readonly now: PresentOperation }
  | { readonly kind: 'not-found' };

export type Redriven =
  /** One outcome for each operation, by index. */
  | { readonly kind: 'done'; readonly outcomes: readonly RedriveOutcome[] }
  /** The deadline is not after the database's time; nothing was done. */
  | { readonly kind: 'deadline-past' };

interface LockedRow {
  readonly operation_id: string;
  readonly operation_key: string;
  readonly state: OperationState;
  readonly state_reason: string | null;
  readonly claim_seq: string;
  readonly attempts: number;
  readonly redriven: number;
  readonly campaign_id: string | null;
  readonly revision: string | null;
  readonly provider: string | null;
  readonly scrubbed_at: Date | null;
  readonly deadline: Date | null;
  readonly refused_at_arrival: boolean;
  readonly now: Date;
}

interface RedrivenRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly operation_key: string;
  readonly state: OperationState;
  readonly state_reason: string | null;
  readonly claim_seq: string;
  readonly payload_hash: Buffer;
  readonly campaign_id: string | null;
  readonly traceparent: string | null;
  readonly deadline: Date | null;
  readonly not_before: Date;
  readonly redriven: number;
}

interface CampaignRow {
  readonly campaign_id: string;
  readonly state: string;
  readonly revision: string;
}

type Names = Record<'tenants' | 'operation_ids' | 'operation_keys', string[]>;

const findCampaigns = loadStatement<Names, { campaign_id: string }>(import.meta.url, 'find-campaigns-of.sql');
const lockCampaigns = loadStatement<Record<'tenants' | 'campaigns', string[]>, CampaignRow>(
  import.meta.url,
  'lock-campaigns.sql',
);
const lock = loadStatement<Names, LockedRow>(import.meta.url, 'lock-operations.sql');
const redrive = loadStatement<
  Record<'tenants' | 'operation_ids' | 'claim_seqs' | 'reasons' | 'deadlines' | 'delays_ms', unknown[]>,
  RedrivenRow
>(import.meta.url, 'redrive-operations.sql');

/** The limit of `reason` in the contracts, less the word before it. */
const REASON_LENGTH = 980;

/**
 * Starts operations again that ended without an effect, under the same keys and with their histories, with audit and events in
 * the caller's transaction. Each is fenced by the claim number that the person has seen. Keys must be distinct.
 */
export async function redriveOperations(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  wanted: Redrive,
  operations: readonly RedrivenOperation[],
): Promise<Redriven> {
  const said = { ...wanted, reason: scrubAddresses(wanted.reason, [], REASON_LENGTH) };
  const names = namesOf(said.tenantId, operations);
  const sending = await sendingRevisions(tx, said.tenantId, names);
  const rows = new Map((await lock.run(tx, names)).map((row) => [row.operation_key, row]));
  const now = rows.values().next().value?.now;
  if (said.deadline && now && said.deadline <= now) return { kind: 'deadline-past' };

  const judged = operations.map(({ operationKey, claimNumber }) => {
    const row = rows.get(operationKey);
    return row ? { row, refusal: refusalOf(row, claimNumber, said, sending) } : null;
  });
  const chosen = judged.flatMap((each) => (each && each.refusal === null ? [each.row] : []));
  const redriven = await redriveChosen(tx, said, chosen);
  await writeAudit(
    tx,
    chosen.flatMap((row) => auditOf(said, row, redriven.get(row.operation_id))),
  );
  for (const row of redriven.values()) outbox.push(eventOf(events, said, row));
  return {
    kind: 'done',
    outcomes: judged.map((each) => (each ? outcomeOf(each.row, each.refusal, redriven) : { kind: 'not-found' })),
  };
}

function namesOf(tenant: string, operations: readonly RedrivenOperation[]): Names {
  return {
    tenants: operations.map(() => tenant),
    operation_ids: operations.map(({ operationKey }) => operationId(tenant, operationKey)),
    operation_keys: operations.map(({ operationKey }) => operationKey),
  };
}

/** `campaign/revision` of those that send now; their rows are locked. */
async function sendingRevisions(tx: Transaction, tenant: string, names: Names): Promise<ReadonlySet<string>> {
  const found = await findCampaigns.run(tx, names);
  if (found.length === 0) return new Set();
  const rows = await lockCampaigns.run(tx, {
    tenants: found.map(() => tenant),
    campaigns: found.map((row) => row.campaign_id),
  });
  return new Set(
    rows.filter(({ state }) => state === 'sending').map((row) => revisionKey(row.campaign_id, row.revision)),
  );
}

function revisionKey(campaign: string, revision: string | null): string {
  return JSON.stringify([campaign, revision]);
}

function refusalOf(
  row: LockedRow,
  claimNumber: string,
  { providers }: Redrive,
  sending: ReadonlySet<string>,
): RedriveRefusal | null {
  if (!REDRIVABLE_STATES.includes(row.state)) return 'not-redrivable';
  if (row.claim_seq !== claimNumber) return 'outdated';
  if (row.scrubbed_at) return 'scrubbed';
  if (row.refused_at_arrival) return 'refused-at-arrival';
  if (row.campaign_id !== null && !sending.has(revisionKey(row.campaign_id, row.revision)))
    return 'campaign-not-sending';
  return row.provider !== null && providers.includes(row.provider) ? null : 'provider-not-configured';
}

async function redriveChosen(
  tx: Transaction,
  { tenantId, reason, deadline, perSecond }: Redrive,
  chosen: readonly LockedRow[],
): Promise<Map<string, RedrivenRow>> {
  if (chosen.length === 0) return new Map();
  const rows = await redrive.run(tx, {
    tenants: chosen.map(() => tenantId),
    operation_ids: chosen.map((row) => row.operation_id),
    claim_seqs: chosen.map((row) => row.claim_seq),
    reasons: chosen.map(() => `redriven: ${reason}`),
    deadlines: chosen.map(() => deadline?.toISOString() ?? null),
    delays_ms: chosen.map((_, index) => (perSecond === null ? 0 : Math.floor((index * 1000) / perSecond))),
  });
  return new Map(rows.map((row) => [row.operation_id, row]));
}

function auditOf({ tenantId, actor, reason }: Redrive, row: LockedRow, now: RedrivenRow | undefined): AuditEntry[] {
  if (!now) return [];
  return [
    {
      tenantId,
      actor,
      action: 'operation.redrive',
      object: row.operation_key,
      reason,
      before: {
        state: row.state,
        reason: row.state_reason,
        claimNumber: Number(row.claim_seq),
        attempts: row.attempts,
        redriven: row.redriven,
        deadline: row.deadline?.toISOString() ?? null,
      },
      after: {
        state: now.state,
        claimNumber: Number(now.claim_seq),
        redriven: now.redriven,
        deadline: now.deadline?.toISOString() ?? null,
        notBefore: now.not_before.toISOString(),
      },
    },
  ];
}

function eventOf(events: EventWriter, { tenantId, causationId }: Redrive, row: RedrivenRow): OutboxEntry {
  const origin = { tenantId, causationId, traceparent: row.traceparent };
  return operationEvent(events, 'einmal.operation.queued.v1', origin, {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    state: row.state,
    payloadHash: row.payload_hash,
    campaignId: row.campaign_id,
    reason: row.state_reason,
  });
}

function outcomeOf(
  row: LockedRow,
  refusal: RedriveRefusal | null,
  redriven: ReadonlyMap<string, RedrivenRow>,
): RedriveOutcome {
  const { operation_id: id, state, claim_seq: claimNumber } = row;
  const now = redriven.get(id);
  if (refusal === null && now) {
    return {
      kind: 'redriven',
      now: { operationId: id, state: now.state, claimNumber: now.claim_seq },
      notBefore: now.not_before,
      deadline: now.deadline,
    };
  }
  return { kind: refusal ?? 'outdated', now: { operationId: id, state, claimNumber } };
}
