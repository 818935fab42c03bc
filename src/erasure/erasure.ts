import type { DataSource } from 'typeorm';
import type { Transaction } from '../database/in-transaction.ts';
import type { OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';

/** What was erased, in rows; it names nobody. */
export interface ErasureReport {
  readonly subscribers: number;
  /** Operations that lost their address. */
  readonly operations: number;
  /** Of these, those that were not called yet and are not going to be. */
  readonly cancelled: number;
  readonly requests: number;
  /** Answers of calls, kept as checkpoints. */
  readonly results: number;
  readonly receipts: number;
  readonly campaignExclusions: number;
  readonly deadLetters: number;
  /** Deliveries to a peer that had not been published. */
  readonly deliveries: number;
}

export const NOTHING_ERASED: ErasureReport = {
  subscribers: 0,
  operations: 0,
  cancelled: 0,
  requests: 0,
  results: 0,
  receipts: 0,
  campaignExclusions: 0,
  deadLetters: 0,
  deliveries: 0,
};

export type ErasureStep =
  'operations' | 'campaigns' | 'receipts' | 'dead-letters' | 'dead-letters-of-nobody' | 'outbox' | 'end';

/** One that is under way. */
export interface Erasure {
  readonly tenant_id: string;
  readonly erasure_id: string;
  readonly requested_by: string;
  readonly reason: string;
  readonly subscriber_ids: readonly string[];
  readonly address_keys: readonly string[];
  readonly step: ErasureStep;
  /** Where the step's next page begins; empty at its start. */
  readonly position: string;
  readonly report: ErasureReport;
}

/** What one page has done, and where the next one begins. */
export interface ErasedPage {
  readonly erased: Partial<ErasureReport>;
  readonly next: Pick<Erasure, 'step' | 'position'>;
}

/** One page of one step, in the caller's transaction. */
export type ErasePage = (
  tx: Transaction,
  outbox: OutboxEntry[],
  erasure: Erasure,
  place: Pick<ErasurePlace, 'events' | 'pageSize'>,
) => Promise<ErasedPage>;

/** Fits the audit table. */
export interface ErasureAudit {
  readonly tenantId: string;
  readonly actor: string;
  readonly action: 'person.erase';
  /** `erasure:ID`. */
  readonly object: string;
  readonly reason: string;
  readonly before: Readonly<Record<string, unknown>>;
  /** The report. */
  readonly after: Readonly<Record<string, unknown>>;
}

export interface ErasurePlace {
  readonly dataSource: DataSource;
  readonly events: EventWriter;
  readonly outbox: OutboxLimits;
  /** Rows of a page. */
  readonly pageSize: number;
  /** Writes the audit row, in the transaction that ends the erasure. */
  readonly audit: (tx: Transaction, entry: ErasureAudit) => Promise<void>;
}
