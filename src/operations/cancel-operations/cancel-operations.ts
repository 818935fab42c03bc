import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { ConsumedEvent } from '../../messaging/inbox/consumed-event.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { storableReason } from '../../messaging/storable-text.ts';
import { operationEvent } from '../operation-events.ts';
import { operationId } from '../operation-id.ts';
import { FINAL_STATES, type OperationState } from '../operation.states.ts';

export type CancelRequest = DataOf<'einmal.operation.cancel-requested.v1'>;

interface CancelledRow {
  readonly tenant_id: string;
  readonly operation_id: string;
}

const insertCancelled = loadStatement<
  Record<'tenants' | 'operation_ids' | 'keys' | 'reasons' | 'causations', unknown[]>,
  CancelledRow
>(import.meta.url, 'insert-cancelled.sql');

const withdrawForgotten = loadStatement<Record<'tenants' | 'operation_ids', string[]>, CancelledRow>(
  import.meta.url,
  '../request-operations/withdraw-forgotten.sql',
);

const cancel = loadStatement<Record<'tenants' | 'operation_ids' | 'reasons', unknown[]>, CancelledRow>(
  import.meta.url,
  'cancel-operations.sql',
);

interface FoundRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly state: OperationState;
  readonly state_reason: string | null;
  readonly payload_hash: Buffer | null;
  readonly effect_id: string | null;
  readonly attempts: number;
}

const find = loadStatement<Record<'tenants' | 'operation_ids', unknown[]>, FoundRow>(
  import.meta.url,
  '../request-operations/find-operations.sql',
);

/** A request from either entrance; `id` names it as the cause of what follows. */
export type ReceivedCancel = Pick<ConsumedEvent<CancelRequest>, 'id' | 'tenantId' | 'traceparent' | 'data'>;

/** What came of a cancellation. */
export type CancelOutcome =
  | { readonly kind: 'cancelled'; readonly operationId: string }
  /** Its request has not come yet, and will find it cancelled. */
  | { readonly kind: 'cancelled-before-request'; readonly operationId: string }
  /** It is being called, or that call's outcome is not known yet: it follows. */
  | { readonly kind: 'too-late'; readonly operationId: string; readonly state: OperationState }
  /** Nothing more would have been done. */
  | { readonly kind: 'already-ended'; readonly operationId: string; readonly state: OperationState };

/**
 * Cancels operations before their provider is called. One that is being called, or is over, is answered with its state:
 * it is too late, and the outcome follows or is there. One that is not there yet is left behind cancelled.
 *
 * @returns one outcome for each request, by index
 */
export async function cancelOperations(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  requests: readonly ReceivedCancel[],
): Promise<CancelOutcome[]> {
  const rows = requests.map((request) => ({
    request,
    id: operationId(request.tenantId, request.data.operationKey),
    reason: reasonOf(request.data),
  }));
  const ids = { tenants: rows.map((row) => row.request.tenantId), operation_ids: rows.map((row) => row.id) };
  await insertFirsts(tx, rows);
  const cancelled = new Set(await cancelFirsts(tx, rows));
  const found = new Map((await find.run(tx, ids)).map((row) => [row.operation_id, row]));
  return rows.map(({ request, id }) => {
    const known = found.get(id);
    // Without a payload there is no operation to speak of yet.
    if (!known?.payload_hash) return { kind: 'cancelled-before-request', operationId: id };
    // The first request ended it; a second one in the same batch is answered like a later one.
    const outcome = outcomeOf(known, cancelled.delete(id));
    outbox.push(eventOf(events, request, known, known.payload_hash, outcome));
    return outcome;
  });
}

function outcomeOf({ operation_id: id, state }: FoundRow, ended: boolean): CancelOutcome {
  if (ended) return { kind: 'cancelled', operationId: id };
  return { kind: FINAL_STATES.includes(state) ? 'already-ended' : 'too-late', operationId: id, state };
}

function eventOf(
  events: EventWriter,
  request: ReceivedCancel,
  known: FoundRow,
  payloadHash: Buffer,
  outcome: CancelOutcome,
): OutboxEntry {
  const ended = outcome.kind === 'cancelled';
  return operationEvent(
    events,
    ended ? 'einmal.operation.cancelled.v1' : 'einmal.operation.duplicated.v1',
    { tenantId: request.tenantId, causationId: request.id, traceparent: request.traceparent },
    {
      operationKey: request.data.operationKey,
      operationId: known.operation_id,
      state: known.state,
      payloadHash,
      attempt: known.attempts,
      effectId: known.effect_id,
      reason: ended ? known.state_reason : tooLate(known.state, outcome.kind),
    },
  );
}

/** The word before the colon is for programs. */
function tooLate(state: OperationState, kind: CancelOutcome['kind']): string {
  const follows = kind === 'too-late' ? ', and its outcome follows' : '';
  return `${kind}: not cancelled by this request; the operation is ${state}${follows}`;
}

interface CancelRow {
  readonly request: ReceivedCancel;
  readonly id: string;
  readonly reason: string;
}

/** Leaves behind cancelled what is not there yet, and nothing where the key is over and forgotten. */
async function insertFirsts(tx: Transaction, rows: readonly CancelRow[]): Promise<void> {
  const inserted = await insertCancelled.run(tx, {
    tenants: rows.map((row) => row.request.tenantId),
    operation_ids: rows.map((row) => row.id),
    keys: rows.map((row) => row.request.data.operationKey),
    reasons: rows.map((row) => row.reason),
    causations: rows.map((row) => row.request.id),
  });
  // The insert that waited for a key to be forgotten has not seen its tombstone.
  await withdrawForgotten.run(tx, {
    tenants: inserted.map((row) => row.tenant_id),
    operation_ids: inserted.map((row) => row.operation_id),
  });
}

async function cancelFirsts(tx: Transaction, rows: readonly CancelRow[]): Promise<string[]> {
  const firsts = [...new Map(rows.toReversed().map((row) => [row.id, row])).values()];
  const ended = await cancel.run(tx, {
    tenants: firsts.map((row) => row.request.tenantId),
    operation_ids: firsts.map((row) => row.id),
    reasons: firsts.map((row) => row.reason),
  });
  return ended.map((row) => row.operation_id);
}

function reasonOf({ by, reason }: CancelRequest): string {
  return storableReason(`cancelled by ${by}${reason ? `: ${reason}` : ''}`);
}
