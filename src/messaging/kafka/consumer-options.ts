/** How one topic is consumed. Times in ms. */
export interface ConsumerOptions {
  /** Partitions handled at the same time; each may hold one database connection. */
  readonly concurrentPartitions: number;
  /** A chunk ends before it would exceed this many bytes of keys, values and headers; a larger record is alone. */
  readonly chunkBytes: number;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** Longest wait of the broker for records. A rebalance and a stop wait for it too. */
  readonly maxWaitMs: number;
  /** Fetched of one partition at a time; with all partitions of a topic, the largest part of a consumer's memory. */
  readonly maxBytesPerPartition: number;
  /** A handler that takes longer gets no more heartbeats, is told to abort, and makes the consumer unhealthy. */
  readonly handlerDeadlineMs: number;
  /** Bounds of the wait after a handler threw or a commit failed. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** Tries of kafkajs itself before it gives up and the consumer is built anew. */
  readonly retries: number;
  /** Bounds of the wait before a consumer is built anew. */
  readonly restartMinMs: number;
  readonly restartMaxMs: number;
  /** How often the lag is asked for, and how long a partition may lag without progress. */
  readonly watchdogIntervalMs: number;
  readonly stallAfterMs: number;
}

/** Rebalance, session and fetch sizes: what keeps a rebalance and a stop short without evicting a busy member. */
export const DEFAULT_CONSUMER_OPTIONS: ConsumerOptions = {
  concurrentPartitions: 3,
  chunkBytes: 4 * 1024 * 1024,
  sessionTimeoutMs: 30_000,
  rebalanceTimeoutMs: 60_000,
  heartbeatIntervalMs: 3000,
  maxWaitMs: 500,
  maxBytesPerPartition: 262_144,
  handlerDeadlineMs: 120_000,
  retryMinMs: 500,
  retryMaxMs: 30_000,
  retries: 8,
  restartMinMs: 250,
  restartMaxMs: 10_000,
  watchdogIntervalMs: 15_000,
  stallAfterMs: 120_000,
};
