import type { DataSource } from 'typeorm';
import { inTransaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { endedEvents, type EndedRow } from '../../operations/ended-row.ts';

const cancelPage = loadStatement<{ page_size: number }, EndedRow>(import.meta.url, 'cancel-remaining.sql');

/** Ends a page of the operations that cancelled campaigns left queued. Returns how many. */
export async function cancelRemaining(
  dataSource: DataSource,
  events: EventWriter,
  pageSize: number,
  limits: OutboxLimits,
): Promise<number> {
  return await inTransaction(dataSource, 'cancel-remaining', async (tx) => {
    const rows = await cancelPage.run(tx, { page_size: pageSize });
    await appendToOutbox(tx, endedEvents(events, 'cancelled', rows), limits);
    return rows.length;
  });
}
