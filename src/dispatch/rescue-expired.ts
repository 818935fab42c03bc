import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { EndedRow } from '../operations/ended-row.ts';
import { findReported } from '../operations/settle-by-evidence/find-reported.ts';
import { settleByEvidence } from '../operations/settle-by-evidence/settle-by-evidence.ts';
import { operationEvent, unknownEvent } from '../operations/operation-events.ts';

interface RescuedRow extends EndedRow {
  readonly from_state: 'claimed' | 'calling' | 'unknown';
  readonly state: 'queued' | 'dead' | 'unknown';
}

const rescue = loadStatement<{ limit: number; max_crashes: number }, RescuedRow>(import.meta.url, 'rescue-expired.sql');

export interface Rescued {
  readonly queued: number;
  readonly unknown: number;
  /** Their workers were lost before the call again and again. */
  readonly dead: number;
  /** Were unknown before, and somebody was lost who resolved them. */
  readonly released: number;
}

export interface RescuePage {
  readonly limit: number;
  readonly maxCrashes: number;
  /** false: takes back without a look at receipts and late answers, when one of them is what fails. */
  readonly judge?: boolean;
}

/** Takes back what lost workers held. Any process may call it at any time. */
export async function rescueExpired(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  { limit, maxCrashes, judge = true }: RescuePage,
): Promise<Rescued> {
  return await inTransaction(dataSource, 'rescue', async (tx) => {
    const rows = await rescue.run(tx, { limit, max_crashes: maxCrashes });
    const unknown = rows.filter((row) => row.from_state === 'calling');
    const dead = rows.filter((row) => row.state === 'dead');
    const queued = rows.filter((row) => row.state === 'queued');
    const entries = [...unknown, ...dead].map(eventOf(events));
    // What is known of a call that was under way is judged when that ends, and this is its end.
    if (judge) await settleByEvidence(tx, entries, events, await findReported(tx, unknown));
    await appendToOutbox(tx, entries, limits);
    return {
      queued: queued.length,
      unknown: unknown.length,
      dead: dead.length,
      released: rows.length - queued.length - dead.length - unknown.length,
    };
  });
}

function eventOf(events: EventWriter) {
  return (row: RescuedRow) => {
    const origin = { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent };
    const summary = {
      operationKey: row.operation_key,
      operationId: row.operation_id,
      state: row.state,
      payloadHash: row.payload_hash,
      attempt: row.attempts,
      campaignId: row.campaign_id,
      reason: row.state_reason,
    };
    return row.state === 'dead'
      ? operationEvent(events, 'einmal.operation.dead.v1', origin, summary)
      : unknownEvent(events, origin, summary, { unknownSince: null, needsPerson: false, evidence: [] });
  };
}
