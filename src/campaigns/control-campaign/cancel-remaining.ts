import type { DataSource } from 'typeorm';
import { inTransaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { operationEvent } from '../../operations/operation-events.ts';

const cancelPage = loadStatement<
  { page_size: number },
  {
    tenant_id: string;
    operation_id: string;
    operation_key: string;
    payload_hash: Buffer;
    attempts: number;
    campaign_id: string;
    state_reason: string;
    causation_id: string | null;
    traceparent: string | null;
  }
>(import.meta.url, 'cancel-remaining.sql');

/** Ends a page of the operations that cancelled campaigns left queued. Returns how many. */
export async function cancelRemaining(
  dataSource: DataSource,
  events: EventWriter,
  pageSize: number,
  limits: OutboxLimits,
): Promise<number> {
  return await inTransaction(dataSource, 'cancel-remaining', async (tx) => {
    const cancelled = await cancelPage.run(tx, { page_size: pageSize });
    const entries = cancelled.map((row) =>
      operationEvent(
        events,
        'einmal.operation.cancelled.v1',
        { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent },
        {
          operationKey: row.operation_key,
          operationId: row.operation_id,
          state: 'cancelled',
          payloadHash: row.payload_hash,
          attempt: row.attempts,
          campaignId: row.campaign_id,
          reason: row.state_reason,
        },
      ),
    );
    await appendToOutbox(tx, entries, limits);
    return cancelled.length;
  });
}
