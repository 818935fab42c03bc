/** One record as the broker holds it: nothing decoded, nothing merged. */
export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly timestamp: Date;
  readonly key: Buffer | null;
  /** null is a tombstone. */
  readonly value: Buffer | null;
  /** A repeated header keeps every value, side by side; a null value is an empty buffer. */
  readonly headers: ReadonlyArray<readonly [name: string, value: Buffer]>;
}

/** Consecutive records of one partition, handled and committed as one. Never empty. */
export interface RecordChunk {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly ConsumedRecord[];
  /** Aborted when the assignment is lost, when the handler is over its deadline, and when a stop can wait no longer. */
  readonly signal: AbortSignal;
}

/** `done`: the offset may move past the chunk. `wait`: the partition pauses and the same records come again. */
export type ChunkOutcome =
  { readonly kind: 'done' } | { readonly kind: 'wait'; readonly reason: string; readonly retryAfterMs: number };

/** May be given the same records again, also in other groupings. A throw is a bug: it is logged and answered by waiting. */
export type ChunkHandler = (chunk: RecordChunk) => Promise<ChunkOutcome>;
