import { Controller } from '@nestjs/common';
import { loadStatement } from '../database/statement.ts';
import type { EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles, type DataOf } from '../messaging/inbox/handles.decorator.ts';

const store = loadStatement<
  Record<
    'tenants' | 'providers' | 'receipt_ids' | 'refs' | 'effect_ids' | 'types' | 'occurred_ats' | 'contents',
    unknown[]
  >,
  never
>(import.meta.url, 'store-receipts.sql');

/** Keeps receipts under their own key, whether or not what they speak of is there. Nothing acts on them yet. */
@Controller()
export class ReceiptFactsHandler {
  @Handles('einmal.receipt.reported.v1')
  async reported({ events, tx }: EventBatch<DataOf<'einmal.receipt.reported.v1'>>): Promise<void> {
    await store.run(tx, {
      tenants: events.map((event) => event.tenantId),
      providers: events.map((event) => event.data.provider),
      receipt_ids: events.map((event) => event.data.receiptId),
      refs: events.map((event) => event.data.reference ?? null),
      effect_ids: events.map((event) => event.data.effectId ?? null),
      types: events.map((event) => event.data.type),
      occurred_ats: events.map((event) => event.data.occurredAt),
      contents: events.map((event) => JSON.stringify(event.data)),
    });
  }
}
