import { inTransaction } from '../../../src/database/in-transaction.ts';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import { cancelOperations } from '../../../src/operations/cancel-operations/cancel-operations.ts';
import { operationId } from '../../../src/operations/operation-id.ts';
import { resolveUnknowns } from '../../../src/operations/unknowns/resolve-unknowns.ts';
import { ReceiptFactsHandler } from '../../../src/receipts/receipt-facts.handler.ts';
import type { WorkerPlace } from '../../support/dispatch-worker.ts';

/** What others do to an operation of tenant `demo`, each in one transaction as the inbox or the HTTP API does it. */
type ActsPlace = Pick<WorkerPlace, 'dataSource' | 'events' | 'outbox'>;

export async function cancelIt({ dataSource, events, outbox }: ActsPlace, name: string): Promise<void> {
  await inTransaction(dataSource, 'cancel', async (tx) => {
    const entries: OutboxEntry[] = [];
    const event = {
      type: 'einmal.operation.cancel-requested.v1',
      id: 'cancel',
      source: '/peer',
      tenantId: 'demo',
      time: new Date(),
      data: { operationKey: name, by: 'a person' },
    } as const;
    await cancelOperations(tx, entries, events, [event]);
    await appendToOutbox(tx, entries, outbox);
  });
}

export async function reportIt(
  { dataSource, events, outbox }: ActsPlace,
  name: string,
  type: 'delivered' | 'accepted' | 'rejected' = 'delivered',
): Promise<void> {
  await inTransaction(dataSource, 'receipt', async (tx) => {
    const entries: OutboxEntry[] = [];
    const data = {
      provider: 'main',
      receiptId: `receipt-${type}`,
      reference: operationId('demo', name),
      type,
      occurredAt: new Date().toISOString(),
    };
    const event = {
      type: 'einmal.receipt.reported.v1',
      id: data.receiptId,
      source: '/peer',
      tenantId: 'demo',
      time: new Date(),
      data,
    };
    await new ReceiptFactsHandler(events).reported({ events: [event], tx, outbox: entries });
    await appendToOutbox(tx, entries, outbox);
  });
}

/** With the claim number that the person sees now. Says what came of it. */
export async function decideIt(
  { dataSource, events, outbox }: ActsPlace,
  name: string,
  as: 'sent' | 'not-sent',
): Promise<string> {
  const rows: { claim_seq: string }[] = await dataSource.query(
    `SELECT claim_seq FROM operations WHERE tenant_id = 'demo' AND operation_key = $1`,
    [name],
  );
  const decision = { tenantId: 'demo', actor: 'a person', as, reason: 'they looked', until: null };
  const seen = { operationKey: name, claimNumber: rows[0]?.claim_seq ?? '0' };
  const decided = await resolveUnknowns(dataSource, events, outbox, decision, [seen]);
  return decided.kind === 'decided' ? (decided.outcomes[0]?.kind ?? 'not-found') : decided.kind;
}
