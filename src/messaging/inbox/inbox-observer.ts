import type { DeadLetterReason } from '../dead-letter-reason.ts';

/** What one committed transaction did with its records. */
export interface InboxCounts {
  readonly fresh: number;
  readonly duplicates: number;
  readonly dead: readonly DeadLetterReason[];
  /** Messages that now wait in the outbox. */
  readonly appended: number;
}

/** Told after each commit: metrics count, and the relay of this process wakes up. */
export interface InboxObserver {
  settled(consumer: string, counts: InboxCounts): void;
}
