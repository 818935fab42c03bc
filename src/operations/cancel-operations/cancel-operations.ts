import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { ConsumedEvent } from '../../messaging/inbox/consumed-event.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { storableReason } from '../../messaging/storable-text.ts';
import { operationEvent } from '../operation-events.ts';
import { operationId } from '../operation-id.ts';
import type { OperationState } from '../operation.states.ts';

export type CancelRequest = DataOf<'einmal.operation.cancel-requested.v1'>;

const insertCancelled = loadStatement<
  Record<'tenants' | 'operation_ids' | 'keys' | 'reasons' | 'causations', unknown[]>,
  never
>(import.meta.url, 'insert-cancelled.sql');

const cancel = loadStatement<
  Record<'tenants' | 'operation_ids' | 'reasons', unknown[]>,
  { tenant_id: string; operation_id: string }
>(import.meta.url, 'cancel-operations.sql');

const find = loadStatement<
  Record<'tenants' | 'operation_ids', unknown[]>,
  {
    tenant_id: string;
    operation_id: string;
    state: OperationState;
    state_reason: string | null;
    payload_hash: Buffer | null;
    effect_id: string | null;
    attempts: number;
  }
>(import.meta.url, '../request-operations/find-operations.sql');

/**
 * Cancels operations before their provider is called. One that is being called, or is over, is answered with its state:
 * it is too late, and the outcome follows or is there. One that is not there yet is left behind cancelled.
 */
export async function cancelOperations(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  requests: readonly ConsumedEvent<CancelRequest>[],
): Promise<void> {
  const rows = requests.map((request) => ({
    request,
    id: operationId(request.tenantId, request.data.operationKey),
    reason: reasonOf(request.data),
  }));
  const ids = { tenants: rows.map((row) => row.request.tenantId), operation_ids: rows.map((row) => row.id) };
  await insertCancelled.run(tx, {
    ...ids,
    keys: rows.map((row) => row.request.data.operationKey),
    reasons: rows.map((row) => row.reason),
    causations: rows.map((row) => row.request.id),
  });
  const cancelled = new Set(await cancelFirsts(tx, rows));
  const found = new Map((await find.run(tx, ids)).map((row) => [row.operation_id, row]));
  for (const { request, id } of rows) {
    const known = found.get(id);
    // Without a payload there is no operation to speak of yet.
    if (!known?.payload_hash) continue;
    // The first request ended it; a second one in the same batch is answered like a later one.
    const ended = cancelled.delete(id);
    outbox.push(
      operationEvent(
        events,
        ended ? 'einmal.operation.cancelled.v1' : 'einmal.operation.duplicated.v1',
        { tenantId: request.tenantId, causationId: request.id, traceparent: request.traceparent },
        {
          operationKey: request.data.operationKey,
          operationId: id,
          state: known.state,
          payloadHash: known.payload_hash,
          attempt: known.attempts,
          effectId: known.effect_id,
          reason: ended ? known.state_reason : `too late to cancel: the operation is ${known.state}`,
        },
      ),
    );
  }
}

interface CancelRow {
  readonly request: ConsumedEvent<CancelRequest>;
  readonly id: string;
  readonly reason: string;
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
