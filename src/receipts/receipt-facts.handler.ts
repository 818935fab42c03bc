import { Controller } from '@nestjs/common';
import { loadStatement } from '../database/statement.ts';
import type { EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles, type DataOf } from '../messaging/inbox/handles.decorator.ts';
import { EventWriter } from '../messaging/outbox/produced-event.ts';
import { settleByEvidence } from '../operations/settle-by-evidence/settle-by-evidence.ts';
import { blankReceipts } from '../retention/blank-receipts.ts';

const store = loadStatement<
  Record<
    | 'tenants'
    | 'providers'
    | 'receipt_ids'
    | 'refs'
    | 'referred_ids'
    | 'effect_ids'
    | 'types'
    | 'occurred_ats'
    | 'contents',
    unknown[]
  >,
  { tenant_id: string; operation_id: string | null }
>(import.meta.url, 'store-receipts.sql');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Keeps receipts under their own key, whether or not what they speak of is there, and lets them take effect: at once, or when
 * the call that they speak of is recorded.
 */
@Controller()
export class ReceiptFactsHandler {
  constructor(private readonly writer: EventWriter) {}

  @Handles('einmal.receipt.reported.v1')
  async reported({ events, tx, outbox }: EventBatch<DataOf<'einmal.receipt.reported.v1'>>): Promise<void> {
    const stored = await store.run(tx, {
      tenants: events.map((event) => event.tenantId),
      providers: events.map((event) => event.data.provider),
      receipt_ids: events.map((event) => event.data.receiptId),
      refs: events.map((event) => event.data.reference ?? null),
      referred_ids: events.map(({ data: { reference } }) =>
        reference !== undefined && UUID.test(reference) ? reference : null,
      ),
      effect_ids: events.map((event) => event.data.effectId ?? null),
      types: events.map((event) => event.data.type),
      occurred_ats: events.map((event) => event.data.occurredAt),
      contents: events.map((event) => JSON.stringify(event.data)),
    });
    const spokenOf = stored.flatMap(({ tenant_id, operation_id }) =>
      operation_id === null ? [] : [{ tenant_id, operation_id }],
    );
    await settleByEvidence(tx, outbox, this.writer, spokenOf);
    await blankReceipts(tx, spokenOf);
  }
}
