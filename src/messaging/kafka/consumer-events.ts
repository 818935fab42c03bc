/** What a consumer says of itself besides its status; each is logged and may be counted. `code` and `reason` are stable names. */
export type ConsumerEvent = { readonly topic: string } & (
  | { readonly kind: 'joined'; readonly partitions: readonly number[] }
  | { readonly kind: 'rebalancing' }
  | { readonly kind: 'crashed'; readonly code: string }
  | { readonly kind: 'restarting'; readonly code: string; readonly inMs: number; readonly restarts: number }
  /** Assigned and behind, nothing paused on purpose, no progress: it is built anew. */
  | { readonly kind: 'consumer-stalled'; readonly partition: number; readonly lag: number }
  | { readonly kind: 'join-stalled'; readonly afterMs: number }
  | {
      readonly kind: 'partition-waiting';
      readonly partition: number;
      readonly reason: string;
      readonly retryAfterMs: number;
    }
  /** The handler threw. `frames` is the stack without its message, which may hold an address. */
  | {
      readonly kind: 'handler-failed';
      readonly partition: number;
      readonly offset: string;
      readonly code: string;
      readonly failures: number;
      readonly frames: readonly string[];
    }
  | { readonly kind: 'handler-overdue'; readonly partition: number; readonly deadlineMs: number }
  /** A chunk was handled after its partition had been lost: nothing is committed, another member has its records again. */
  | { readonly kind: 'assignment-lost'; readonly partition: number; readonly handled: number }
  | { readonly kind: 'commit-failed'; readonly partition: number; readonly code: string }
  /** Incident: the broker no longer had the records at our offset. Records may be lost, or come again. */
  | { readonly kind: 'offset-out-of-range'; readonly partition: number; readonly expected: string | null }
  /** Incident: the next fetch began elsewhere than the last chunk ended. */
  | { readonly kind: 'offset-jump'; readonly partition: number; readonly expected: string; readonly found: string }
);

export type ConsumerEventListener = (event: ConsumerEvent) => void;
