import { inTransaction, type Transaction } from '../database/in-transaction.ts';
import { loadStatement, type Executor, type NoParameters } from '../database/statement.ts';
import { pastContention } from '../dispatch/past-contention.ts';
import { appendToOutbox } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { RunResult } from '../runtime/polling-loop.ts';
import { eraseDeadLetters, eraseDeadLettersOfNobody } from './erase-dead-letters.ts';
import { eraseOfCampaigns, eraseSingles } from './erase-operations.ts';
import { eraseReceipts } from './erase-receipts.ts';
import {
  NOTHING_ERASED,
  type ErasePage,
  type Erasure,
  type ErasurePlace,
  type ErasureReport,
  type ErasureStep,
} from './erasure.ts';
import { requestErasure, type ErasureOrder, type ErasureRequested } from './request-erasure.ts';

export interface ErasureId {
  readonly tenantId: string;
  readonly erasureId: string;
}

/** An erasure as it can be shown; `endedAt` is null while it is under way, and the report is that of the work done so far. */
export interface ErasureShown {
  readonly requestedAt: Date;
  readonly endedAt: Date | null;
  readonly report: ErasureReport;
}

export type ErasureOutcome =
  | { readonly kind: 'erased'; readonly erasureId: string; readonly report: ErasureReport }
  | Exclude<ErasureRequested, { readonly kind: 'requested' }>;

type Id = { tenant: string; erasure_id: string };

const next = loadStatement<NoParameters, Erasure>(import.meta.url, 'next-erasure.sql');
const lock = loadStatement<Id, Erasure>(import.meta.url, 'lock-erasure.sql');
const advance = loadStatement<Id & { step: ErasureStep; position: string; report: string }, never>(
  import.meta.url,
  'advance-erasure.sql',
);
const read = loadStatement<Id, { requested_at: Date; ended_at: Date | null; report: ErasureReport }>(
  import.meta.url,
  'read-erasure.sql',
);
const emptyDeliveries = loadStatement<{ tenant: string; address_keys: readonly string[] }, object>(
  import.meta.url,
  'empty-deliveries.sql',
);

/** In this order: what creates something comes before what it creates. */
const STEPS: Readonly<Record<Exclude<ErasureStep, 'end'>, ErasePage>> = {
  operations: eraseSingles,
  campaigns: eraseOfCampaigns,
  receipts: eraseReceipts,
  'dead-letters': eraseDeadLetters,
  'dead-letters-of-nobody': eraseDeadLettersOfNobody,
  outbox: async (tx, _outbox, { tenant_id: tenant, address_keys }) => {
    const emptied = await emptyDeliveries.run(tx, { tenant, address_keys });
    return { erased: { deliveries: emptied.length }, next: { step: 'end', position: '' } };
  },
};

/**
 * Erases a person: subscribers, requests, addresses and results of operations, contents of receipts, dead letters, and deliveries
 * that wait. Operations keep their keys, and suppressions stay, so that a repeat is still a repeat and nobody is mailed who must
 * not be.
 *
 * Not found: an address inside the request of an operation that is to somebody else, or of kind `http` or `steps` (but for the
 * recipient of the step in hand); it goes when that is scrubbed. What Kafka has is kept by its topics' retention.
 *
 * In pages; when the process dies, the maintenance of any replica goes on. Asking again for the same person is safe.
 */
export async function erasePerson(place: ErasurePlace, order: ErasureOrder): Promise<ErasureOutcome> {
  const { tenantId } = order;
  const requested = await inTransaction(place.dataSource, 'request-erasure', (tx) => requestErasure(tx, order));
  if (requested.kind !== 'requested') return requested;
  const { erasureId } = requested;
  const id = { tenantId, erasureId };
  while ((await pastContention(async () => await erasePage(place, id))) === 'more');
  const shown = await readErasure(place.dataSource, id);
  return { kind: 'erased', erasureId, report: shown?.report ?? NOTHING_ERASED };
}

/**
 * One page of an erasure, in one transaction with the place it got to.
 *
 * @param id null: the oldest that nobody works on
 * @returns `idle` when it is done, or none is left
 */
export async function erasePage(place: ErasurePlace, id: ErasureId | null): Promise<RunResult> {
  return await inTransaction(place.dataSource, 'erase', async (tx) => {
    const [erasure] = id ? await lock.run(tx, idOf(id)) : await next.run(tx, {});
    if (!erasure || erasure.step === 'end') return 'idle';
    const outbox: OutboxEntry[] = [];
    const page = await STEPS[erasure.step](tx, outbox, erasure, place);
    const report = sumOf(erasure.report, page.erased);
    const where = { tenant: erasure.tenant_id, erasure_id: erasure.erasure_id };
    await advance.run(tx, { ...where, ...page.next, report: JSON.stringify(report) });
    if (page.next.step === 'end') await writeAudit(tx, place, erasure, report);
    await appendToOutbox(tx, outbox, place.outbox);
    return 'more';
  });
}

export async function readErasure(executor: Executor, id: ErasureId): Promise<ErasureShown | null> {
  const [row] = await read.run(executor, idOf(id));
  return row ? { requestedAt: row.requested_at, endedAt: row.ended_at, report: row.report } : null;
}

async function writeAudit(
  tx: Transaction,
  place: ErasurePlace,
  erasure: Erasure,
  report: ErasureReport,
): Promise<void> {
  await place.audit(tx, {
    tenantId: erasure.tenant_id,
    actor: erasure.requested_by,
    action: 'person.erase',
    object: `erasure:${erasure.erasure_id}`,
    reason: erasure.reason,
    before: {},
    after: { ...report },
  });
}

function sumOf(before: ErasureReport, erased: Partial<ErasureReport>): ErasureReport {
  const sum = (name: keyof ErasureReport): number => before[name] + (erased[name] ?? 0);
  return {
    subscribers: sum('subscribers'),
    operations: sum('operations'),
    cancelled: sum('cancelled'),
    requests: sum('requests'),
    results: sum('results'),
    receipts: sum('receipts'),
    campaignExclusions: sum('campaignExclusions'),
    deadLetters: sum('deadLetters'),
    deliveries: sum('deliveries'),
  };
}

function idOf({ tenantId, erasureId }: ErasureId): Id {
  return { tenant: tenantId, erasure_id: erasureId };
}
