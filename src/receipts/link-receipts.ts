import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { settleByEvidence, type OperationId } from '../operations/settle-by-evidence/settle-by-evidence.ts';

const link = loadStatement<{ limit: number }, OperationId>(import.meta.url, 'link-receipts.sql');

/**
 * Gives receipts that know an effect id alone to their operations, and lets them take effect. Returns how many.
 *
 * @param judge false: they take effect with the next evidence, when one of them is what fails
 */
export async function linkReceipts(
  dataSource: DataSource,
  events: EventWriter,
  limit: number,
  limits: OutboxLimits,
  judge = true,
): Promise<number> {
  return await inTransaction(dataSource, 'link-receipts', async (tx) => {
    const linked = await link.run(tx, { limit });
    const entries: OutboxEntry[] = [];
    if (judge) await settleByEvidence(tx, entries, events, linked);
    await appendToOutbox(tx, entries, limits);
    return linked.length;
  });
}
