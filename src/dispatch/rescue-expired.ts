import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { operationEvent } from '../operations/operation-events.ts';

interface RescuedRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly operation_key: string;
  readonly state: 'queued' | 'unknown';
  readonly state_reason: string | null;
  readonly payload_hash: Buffer;
  readonly attempts: number;
  readonly campaign_id: string | null;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
}

const rescue = loadStatement<{ limit: number }, RescuedRow>(import.meta.url, 'rescue-expired.sql');

export interface Rescued {
  readonly queued: number;
  readonly unknown: number;
}

/** Takes back what lost workers held. Any process may call it at any time. */
export async function rescueExpired(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  limit: number,
): Promise<Rescued> {
  return await inTransaction(dataSource, 'rescue', async (tx) => {
    const rows = await rescue.run(tx, { limit });
    const unknown = rows.filter((row) => row.state === 'unknown');
    const entries = unknown.map((row) =>
      operationEvent(
        events,
        'einmal.operation.unknown.v1',
        { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent },
        {
          operationKey: row.operation_key,
          operationId: row.operation_id,
          state: row.state,
          payloadHash: row.payload_hash,
          attempt: row.attempts,
          campaignId: row.campaign_id,
          reason: row.state_reason,
        },
      ),
    );
    await appendToOutbox(tx, entries, limits);
    return { queued: rows.length - unknown.length, unknown: unknown.length };
  });
}
