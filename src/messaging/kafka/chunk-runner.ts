import type { EachBatchPayload } from 'kafkajs';
import { backoffMs } from '../../runtime/backoff.ts';
import { errorCode } from '../../runtime/service-error.ts';
import type { Assignment } from './assignment.ts';
import type { ConsumerEventListener } from './consumer-events.ts';
import type { ConsumerOptions } from './consumer-options.ts';
import { BatchFeed } from './batch-feed.ts';
import { type HeartbeatWatch, watchHeartbeats } from './heartbeat-watch.ts';
import { InFlightChunks } from './in-flight-chunks.ts';
import { isMembershipError, isMembershipLost } from './kafka-errors.ts';
import type { PartitionPauses } from './partition-pauses.ts';
import type { ChunkHandler, ChunkOutcome, ConsumedRecord } from './record-chunk.ts';
import { splitBatch } from './split-batch.ts';

/** How long a partition waits for its own chunk of an earlier assignment before it is looked at again, in ms. */
const EARLIER_CHUNK_WAIT_MS = 250;

export interface ChunkRunnerParts {
  readonly topic: string;
  readonly handler: ChunkHandler;
  readonly chunkSize: number;
  readonly options: ConsumerOptions;
  readonly assignment: Assignment;
  readonly pauses: PartitionPauses;
  readonly emit: ConsumerEventListener;
}

/** One fetched batch of a partition: chunk by chunk to the handler, each committed before the next. */
export class ChunkRunner {
  readonly inFlight = new InFlightChunks();
  readonly #parts: ChunkRunnerParts;
  #draining = false;

  constructor(parts: ChunkRunnerParts) {
    this.#parts = parts;
  }

  /** From now on no chunk reaches the handler, whatever kafkajs still delivers. */
  drain(): void {
    this.#draining = true;
  }

  /** For kafkajs. Rejects only with kafkajs' own membership errors: any other error would stop or kill its consumer. */
  readonly eachBatch = async (payload: EachBatchPayload): Promise<void> => {
    try {
      await this.#takeBatch(payload);
    } catch (error) {
      if (isMembershipError(error)) throw error;
      const { partition } = payload.batch;
      this.#parts.pauses.hold(partition, this.#onThrow(partition, payload.batch.firstOffset() ?? 'none', error));
    }
  };

  async #takeBatch(payload: EachBatchPayload): Promise<void> {
    const { assignment, pauses, options, chunkSize } = this.#parts;
    const { batch } = payload;
    const state = assignment.get(batch.partition);
    if (this.#draining || state === undefined) {
      // Returning alone would have kafkajs fetch the same records again, and again.
      payload.pause();
      return;
    }
    if (this.inFlight.has(batch.partition)) {
      pauses.hold(batch.partition, EARLIER_CHUNK_WAIT_MS);
      return;
    }
    const feed = new BatchFeed({ payload, assignment, state, emit: this.#parts.emit });
    for (const records of splitBatch(batch, { maxRecords: chunkSize, maxBytes: options.chunkBytes })) {
      if (this.#draining || !feed.isCurrent() || !(await this.#takeChunk(feed, records))) return;
    }
  }

  /** Returns whether the next chunk of the batch may follow. */
  async #takeChunk(feed: BatchFeed, records: readonly ConsumedRecord[]): Promise<boolean> {
    const { emit, pauses, topic } = this.#parts;
    const { partition } = feed;
    const watch = this.#watchHeartbeats(feed);
    const outcome = await this.#callHandler(partition, records, watch);
    if (feed.isLost()) {
      emit({ kind: 'assignment-lost', topic, partition, handled: records.length });
      // Only what lost it: an older notice of a rebalance would ask for one more when the group has joined again meanwhile.
      rethrow(watch, isMembershipLost);
      return false;
    }
    if (outcome.kind === 'wait') {
      const { reason, retryAfterMs } = outcome;
      emit({ kind: 'partition-waiting', topic, partition, reason, retryAfterMs });
      pauses.hold(partition, retryAfterMs);
      rethrow(watch);
      return false;
    }
    return await this.#settle(feed, records, watch);
  }

  async #settle(feed: BatchFeed, records: readonly ConsumedRecord[], watch: HeartbeatWatch): Promise<boolean> {
    const { emit, pauses, topic } = this.#parts;
    const { partition } = feed;
    const commit = await feed.commitThrough(records.at(-1)?.offset ?? -1n);
    if (commit.kind === 'refused') {
      this.#loseAssignment();
      throw commit.error;
    }
    if (commit.kind === 'failed') {
      emit({ kind: 'commit-failed', topic, partition, code: commit.code });
      pauses.hold(partition, this.#nextBackoff(partition));
    }
    if (commit.kind !== 'committed') return false;
    rethrow(watch);
    await feed.heartbeat();
    return true;
  }

  async #callHandler(
    partition: number,
    records: readonly ConsumedRecord[],
    watch: HeartbeatWatch,
  ): Promise<ChunkOutcome> {
    const { handler, topic } = this.#parts;
    const signal = this.inFlight.begin(partition);
    try {
      const outcome = await handler({ topic, partition, records, signal });
      // Checked in spite of its type: anything else taken for `done` would be a record lost.
      if (outcome.kind === 'done' || outcome.kind === 'wait') return outcome;
      throw new TypeError('a chunk handler answered with neither done nor wait');
    } catch (error) {
      const retryAfterMs = this.#onThrow(partition, String(records[0]?.offset ?? 'none'), error);
      return { kind: 'wait', reason: 'handler-failed', retryAfterMs };
    } finally {
      watch.stop();
      this.inFlight.end(partition);
    }
  }

  #watchHeartbeats(feed: BatchFeed): HeartbeatWatch {
    const { emit, options, topic } = this.#parts;
    const { partition } = feed;
    return watchHeartbeats({
      heartbeat: () => feed.payload.heartbeat(),
      intervalMs: options.heartbeatIntervalMs,
      deadlineMs: options.handlerDeadlineMs,
      onLost: () => this.#loseAssignment(),
      onOverdue: () => {
        this.inFlight.markOverdue(partition);
        emit({ kind: 'handler-overdue', topic, partition, deadlineMs: options.handlerDeadlineMs });
      },
    });
  }

  #loseAssignment(): void {
    this.#parts.assignment.lose();
    this.inFlight.abortAll();
  }

  /** Returns how long to wait, in ms. */
  #onThrow(partition: number, offset: string, error: unknown): number {
    const { emit, topic, assignment } = this.#parts;
    const waitMs = this.#nextBackoff(partition);
    const failures = assignment.get(partition)?.failures ?? 1;
    const frames = framesOf(error);
    emit({ kind: 'handler-failed', topic, partition, offset, code: errorCode(error), failures, frames });
    return waitMs;
  }

  #nextBackoff(partition: number): number {
    const { assignment, options } = this.#parts;
    const state = assignment.get(partition);
    if (state !== undefined) state.failures += 1;
    return backoffMs(state?.failures ?? 1, { baseMs: options.retryMinMs, capMs: options.retryMaxMs });
  }
}

/** Hands kafkajs the news that a heartbeat brought while the handler was at work. */
function rethrow(watch: HeartbeatWatch, matters: (error: Error) => boolean = () => true): void {
  const error = watch.membershipError();
  if (error !== null && matters(error)) throw error;
}

function framesOf(error: unknown): readonly string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 10);
}
