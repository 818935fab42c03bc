import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { operationEvent } from './operation-events.ts';

/** What statements return that end many operations at once. */
export interface EndedRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly operation_key: string;
  readonly payload_hash: Buffer;
  readonly attempts: number;
  readonly campaign_id: string | null;
  readonly state_reason: string | null;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
}

export function endedEvents(
  events: EventWriter,
  state: 'cancelled' | 'expired',
  rows: readonly EndedRow[],
): OutboxEntry[] {
  return rows.map((row) =>
    operationEvent(
      events,
      `einmal.operation.${state}.v1`,
      { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent },
      {
        operationKey: row.operation_key,
        operationId: row.operation_id,
        state,
        payloadHash: row.payload_hash,
        attempt: row.attempts,
        campaignId: row.campaign_id,
        reason: row.state_reason,
      },
    ),
  );
}
