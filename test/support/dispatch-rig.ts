import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source.ts';
import { inTransaction, type Transaction } from '../../src/database/in-transaction.ts';
import { rescueExpired, type Rescued } from '../../src/dispatch/rescue-expired.ts';
import { parseAddress } from '../../src/mail/address.ts';
import { EventWriter } from '../../src/messaging/outbox/produced-event.ts';
import { operationId } from '../../src/operations/operation-id.ts';
import { payloadHash } from '../../src/operations/payload-hash.ts';
import { insertOperations, type NewOperation } from '../../src/operations/request-operations/insert-operations.ts';
import { TenantDirectory } from '../../src/tenants/tenant-directory.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { createWorker, type Worker, type WorkerOptions } from './dispatch-worker.ts';
import { spawnSmtpSink, type SmtpSink } from './sinks/smtp-sink.ts';

export interface OperationRow {
  readonly operation_id: string;
  readonly state: string;
  readonly state_reason: string | null;
  readonly claim_seq: string;
  readonly attempts: number;
  readonly effect_id: string | null;
}

export interface AttemptRow {
  readonly claim_seq: string;
  readonly outcome: string | null;
  readonly code: string | null;
  readonly diagnostic: string | null;
}

export interface DispatchRig {
  readonly database: TestDatabase;
  readonly dataSource: DataSource;
  readonly events: EventWriter;
  readonly outbox: { readonly buckets: number; readonly maxMessageBytes: number };
  readonly tenants: TenantDirectory;
  /** The judge: one mail to `NAME@example.com` per operation key NAME. */
  readonly sink: SmtpSink;
  worker(options?: WorkerOptions): Worker;
  /** Queues one operation per name: key NAME, to NAME@example.com. */
  request(names: readonly string[], parts?: Partial<NewOperation>): Promise<void>;
  /** The same as operations of a campaign that is sending. */
  campaign(campaignId: string, names: readonly string[], parts?: Partial<NewOperation>): Promise<void>;
  operation(name: string, tenantId?: string): Promise<OperationRow>;
  attempts(name: string, tenantId?: string): Promise<AttemptRow[]>;
  states(): Promise<Record<string, number>>;
  /** Whether all operations are in one of these states. */
  allIn(...states: readonly string[]): Promise<boolean>;
  /** Types of the events that wait in the outbox, of one operation or of all. */
  eventsOf(name?: string): Promise<string[]>;
  query<R>(sql: string, values?: readonly unknown[]): Promise<R[]>;
  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  suppress(name: string, parts?: { readonly scope?: string }): Promise<void>;
  /** Lets the leases of all claims end now, as if their time had passed. */
  endLeases(): Promise<void>;
  rescue(): Promise<Rescued>;
  /** Forgets all that tests have written, here and at the sink. */
  reset(): Promise<void>;
  tearDown(): Promise<void>;
}

const TENANT = {
  tokens: [],
  senders: ['news@einmal.example', 'example.org'],
  provider: 'main',
  providers: ['main'],
  keyRetentionDays: 400,
  payloadRetentionDays: 30,
  afterKeyRetention: 'tombstone',
  onUnknown: 'hold',
} as const;

export function requestOf(name: string): { to: string; subject: string; text: string } {
  return { to: `${name}@example.com`, subject: `For ${name}`, text: `Hello ${name}` };
}

/** A database copied from the template, a sink, and dispatchers in this process. */
export async function createDispatchRig(databaseUrl: string, template: string): Promise<DispatchRig> {
  const database = await createDatabase(databaseUrl, { template });
  const dataSource = createDataSource({ url: database.url, poolSize: 12, applicationName: 'rig' });
  await dataSource.initialize();
  const sink = await spawnSmtpSink({ recordArrivals: true });
  const events = new EventWriter('rig.');
  const outbox = { buckets: 4, maxMessageBytes: 983_040 };
  const tenants = new TenantDirectory({
    tenants: { demo: { id: 'demo', ...TENANT }, other: { id: 'other', ...TENANT } },
  });
  const place = { dataSource, events, tenants, outbox, sink };
  const workers: Worker[] = [];
  const query = async <R>(sql: string, values: readonly unknown[] = []): Promise<R[]> =>
    await dataSource.query<R[]>(sql, [...values]);
  const insert = async (operations: readonly NewOperation[]): Promise<void> => {
    await inTransaction(dataSource, 'seed', async (tx) => await insertOperations(tx, operations));
  };
  const closeWorkers = async (): Promise<void> => {
    await Promise.all(workers.splice(0).map(async (worker) => await worker.close()));
  };
  return {
    database,
    ...place,
    worker: (options = {}) => {
      const worker = createWorker(place, options);
      workers.push(worker);
      return worker;
    },
    request: async (names, parts = {}) => await insert(names.map((name) => newOperation(name, parts))),
    campaign: async (campaignId, names, parts = {}) => {
      const tenantId = parts.tenantId ?? 'demo';
      await query(INSERT_CAMPAIGN, [tenantId, campaignId, JSON.stringify(REVISION)]);
      await insert(names.map((name) => campaignOperation(campaignId, name, parts)));
      await query(`UPDATE campaigns SET audience = $3 WHERE tenant_id = $1 AND campaign_id = $2`, [
        tenantId,
        campaignId,
        names.length,
      ]);
    },
    operation: async (name, tenantId = 'demo') => {
      const [row] = await query<OperationRow>('SELECT * FROM operations WHERE tenant_id = $1 AND operation_key = $2', [
        tenantId,
        name,
      ]);
      if (!row) throw new Error(`no operation ${name}`);
      return row;
    },
    attempts: async (name, tenantId = 'demo') =>
      await query<AttemptRow>(
        `SELECT a.claim_seq, a.outcome, a.code, a.diagnostic FROM attempts a JOIN operations o USING (tenant_id, operation_id)
         WHERE o.tenant_id = $1 AND o.operation_key = $2 ORDER BY a.claim_seq`,
        [tenantId, name],
      ),
    states: async () => {
      const rows = await query<{ state: string; n: number }>(
        'SELECT state, count(*)::integer AS n FROM operations GROUP BY state',
      );
      return Object.fromEntries(rows.map((row) => [row.state, row.n]));
    },
    allIn: async (...states) => {
      const rows = await query('SELECT FROM operations WHERE state <> ALL ($1) LIMIT 1', [states]);
      return rows.length === 0;
    },
    eventsOf: async (name) => {
      const rows = await query<{ type: string }>(
        `SELECT (SELECT h ->> 1 FROM json_array_elements(headers) h WHERE h ->> 0 = 'ce_type') AS type FROM outbox
         WHERE $1::text IS NULL OR convert_from(message_value, 'UTF8')::json ->> 'operationKey' = $1 ORDER BY outbox_id`,
        [name ?? null],
      );
      return rows.map((row) => row.type.replace(/^einmal\.|\.v1$/g, ''));
    },
    query,
    inTransaction: async (work) => await inTransaction(dataSource, 'test', work),
    suppress: async (name, { scope = 'all' } = {}) =>
      void (await query(
        `INSERT INTO suppressions (tenant_id, address_key, scope, key_version, reason, active, cause, fact_time)
         VALUES ('demo', $1, $2, 1, 'unsubscribed', true, 'test', now())`,
        [addressKey(`${name}@example.com`), scope],
      )),
    endLeases: async () =>
      void (await query(
        `UPDATE operations SET lease_until = now() - interval '1 second' WHERE state IN ('claimed', 'calling')`,
      )),
    rescue: async () => await rescueExpired(dataSource, events, outbox, { limit: 500, maxCrashes: 5 }),
    reset: async () => {
      await closeWorkers();
      await query(
        `TRUNCATE operations, operation_requests, attempts, rate_tokens, outbox, campaigns, campaign_revisions,
           campaign_exclusions, subscribers, suppressions, receipts, evidence, audit, provider_stops, checkpoints, step_references, operation_tombstones, approvals, outbox_buckets, outbox_relays`,
      );
      await sink.reset();
    },
    tearDown: async () => {
      await sink.release();
      await closeWorkers();
      await dataSource.destroy();
      await sink.stop();
      await database.drop();
    },
  };
}

const REVISION = {
  class: 'marketing',
  from: 'Einmal News <news@einmal.example>',
  subject: 'News for {{ subscriber.id }}',
  html: '<p>Hello {{ subscriber.id }}</p>',
  audience: { lists: ['news'] },
};

const INSERT_CAMPAIGN = `
  WITH revision AS (
    INSERT INTO campaign_revisions (tenant_id, campaign_id, revision, content, content_hash) VALUES ($1, $2, 1, $3, 'hash')
  )
  INSERT INTO campaigns (tenant_id, campaign_id, revision, content_hash, class, provider, on_unknown, state, approved_by,
                         audience, excluded, started_at)
  VALUES ($1, $2, 1, 'hash', 'marketing', 'main', 'hold', 'sending', 'editor', 0, 0, now())`;

function newOperation(name: string, parts: Partial<NewOperation>): NewOperation {
  const tenantId = parts.tenantId ?? 'demo';
  const request = parts.request ?? requestOf(name);
  return {
    tenantId,
    operationId: operationId(tenantId, name),
    operationKey: name,
    kind: 'email',
    class: 'transactional',
    payloadHash: Buffer.from(payloadHash({ kind: 'email', request }).slice('sha256:'.length), 'hex'),
    hashVersion: 1,
    state: 'queued',
    stateReason: null,
    provider: 'main',
    priority: 5,
    campaign: null,
    addressKey: addressKey(`${name}@example.com`),
    lists: [],
    approval: null,
    approvalHash: null,
    stepReferences: [],
    notBefore: null,
    deadline: null,
    maxAttempts: 12,
    onUnknown: 'hold',
    causationId: null,
    traceparent: null,
    ...parts,
    request,
  };
}

function campaignOperation(campaignId: string, name: string, parts: Partial<NewOperation>): NewOperation {
  const subscriber = { id: name, email: `${name}@example.com`, attributes: {}, locale: null, timeZone: null };
  return newOperation(name, {
    class: 'marketing',
    lists: ['news'],
    campaign: { campaignId, revision: 1, subscriberId: name },
    request: { to: subscriber.email, contentHash: 'hash', subscriber },
    ...parts,
  });
}

function addressKey(address: string): string {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new Error(`not an address: ${parsed.rule}`);
  return parsed.key;
}
