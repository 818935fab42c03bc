import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { endedEvents, type EndedRow } from '../operations/ended-row.ts';

interface RescuedRow extends EndedRow {
  readonly state: 'queued' | 'unknown';
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
    const entries = endedEvents(events, 'unknown', unknown);
    await appendToOutbox(tx, entries, limits);
    return { queued: rows.length - unknown.length, unknown: unknown.length };
  });
}
