import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { ConsumedEvent } from '../../messaging/inbox/consumed-event.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
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
    reason: `cancelled by ${request.data.by}${request.data.reason ? `: ${request.data.reason}` : ''}`,
  }));
  const ids = { tenants: rows.map((row) => row.request.tenantId), operation_ids: rows.map((row) => row.id) };
  await insertCancelled.run(tx, {
    ...ids,
    keys: rows.map((row) => row.request.data.operationKey),
    reasons: rows.map((row) => row.reason),
    causations: rows.map((row) => row.request.id),
  });
  const cancelled = new Set(
    (await cancel.run(tx, { ...ids, reasons: rows.map((row) => row.reason) })).map((row) => row.operation_id),
  );
  const found = new Map((await find.run(tx, ids)).map((row) => [row.operation_id, row]));
  for (const { request, id } of rows) {
    const known = found.get(id);
    // Without a payload there is no operation to speak of yet.
    if (!known?.payload_hash) continue;
    const type = cancelled.has(id) ? 'einmal.operation.cancelled.v1' : 'einmal.operation.duplicated.v1';
    outbox.push(
      operationEvent(
        events,
        type,
        { tenantId: request.tenantId, causationId: request.id, traceparent: request.traceparent },
        {
          operationKey: request.data.operationKey,
          operationId: id,
          state: known.state,
          payloadHash: known.payload_hash,
          attempt: known.attempts,
          effectId: known.effect_id,
          reason: cancelled.has(id) ? known.state_reason : `too late to cancel: the operation is ${known.state}`,
        },
      ),
    );
  }
}
