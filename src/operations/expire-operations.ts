import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { endedEvents, type EndedRow } from './ended-row.ts';

const expire = loadStatement<{ page_size: number }, EndedRow>(import.meta.url, 'expire-operations.sql');

/** Ends a page of the operations whose deadline has passed while they waited. Returns how many. */
export async function expireOperations(
  dataSource: DataSource,
  events: EventWriter,
  pageSize: number,
  limits: OutboxLimits,
): Promise<number> {
  return await inTransaction(dataSource, 'expire', async (tx) => {
    const rows = await expire.run(tx, { page_size: pageSize });
    await appendToOutbox(tx, endedEvents(events, 'expired', rows), limits);
    return rows.length;
  });
}
