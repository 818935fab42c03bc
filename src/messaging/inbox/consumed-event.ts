import type { Transaction } from '../../database/in-transaction.ts';
import type { OutboxEntry } from '../outbox/outbox-entry.ts';

/** One event that this consumer has not handled before, decoded and valid. */
export interface ConsumedEvent<D = unknown> {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly tenantId: string;
  /** When the fact happened: `ce_time`, or the record's own time where the peer gave none. */
  readonly time: Date;
  readonly traceparent?: string;
  readonly data: D;
}

/** What a handler gets: fresh events of one type, in the order of their partition, and the transaction they share. */
export interface EventBatch<D = unknown> {
  readonly events: readonly ConsumedEvent<D>[];
  readonly tx: Transaction;
  /** Written as the last statement of the transaction. */
  readonly outbox: OutboxEntry[];
}

/** Handles a batch whole or throws: what it throws rolls the batch back, and the batch is halved until the bad one stands alone. */
export type EventHandler = (batch: EventBatch) => Promise<void>;

/** The handlers of one process, by event type. */
export interface HandlerRegistry {
  handlerOf(type: string): EventHandler | undefined;
}
