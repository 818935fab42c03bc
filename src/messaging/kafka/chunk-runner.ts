import type { EachBatchPayload } from 'kafkajs';
import { backoffMs } from '../../runtime/backoff.ts';
import { monotonicNow } from '../../runtime/monotonic.ts';
import { errorCode } from '../../runtime/service-error.ts';
import type { Assignment, PartitionState } from './assignment.ts';
import type { ConsumerEventListener } from './consumer-events.ts';
import type { ConsumerOptions } from './consumer-options.ts';
import { type HeartbeatWatch, watchHeartbeats } from './heartbeat-watch.ts';
import { InFlightChunks } from './in-flight-chunks.ts';
import { describeKafkaError, isMembershipError, isMembershipLost } from './kafka-errors.ts';
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

/** What belongs to one fetched batch while its chunks go through the handler. */
interface Feed {
  readonly payload: EachBatchPayload;
  readonly partition: number;
  readonly epoch: number;
  readonly state: PartitionState;
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
      await this.#feedBatch(payload);
    } catch (error) {
      if (isMembershipError(error)) throw error;
      this.#onThrow(payload.batch.partition, payload.batch.firstOffset() ?? 'none', error);
    }
  };

  async #feedBatch(payload: EachBatchPayload): Promise<void> {
    const { assignment, pauses, options, chunkSize } = this.#parts;
    const { partition } = payload.batch;
    const state = assignment.get(partition);
    if (this.#draining || state === undefined) {
      // Returning alone would have kafkajs fetch the same records again, and again.
      payload.pause();
      return;
    }
    if (this.inFlight.has(partition)) {
      pauses.hold(partition, EARLIER_CHUNK_WAIT_MS);
      return;
    }
    const feed: Feed = { payload, partition, epoch: assignment.epoch, state };
    this.#noteFetch(feed);
    for (const records of splitBatch(payload.batch, { maxRecords: chunkSize, maxBytes: options.chunkBytes })) {
      if (!this.#mayGoOn(feed) || !(await this.#takeChunk(feed, records))) return;
    }
  }

  #mayGoOn({ payload, epoch }: Feed): boolean {
    return !this.#draining && this.#parts.assignment.epoch === epoch && payload.isRunning() && !payload.isStale();
  }

  /** Returns whether the next chunk of the batch may follow. */
  async #takeChunk(feed: Feed, records: readonly ConsumedRecord[]): Promise<boolean> {
    const { assignment, pauses, topic, emit } = this.#parts;
    const { payload, partition, epoch, state } = feed;
    const watch = this.#watchHeartbeats(feed);
    const outcome = await this.#callHandler(feed, records, watch);
    if (assignment.epoch !== epoch) {
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
    state.failures = 0;
    if (!(await this.#commit(feed, records))) return false;
    rethrow(watch);
    await this.#heartbeat(payload);
    return true;
  }

  #watchHeartbeats({ payload, partition }: Feed): HeartbeatWatch {
    const { assignment, emit, options, topic } = this.#parts;
    return watchHeartbeats({
      heartbeat: () => payload.heartbeat(),
      intervalMs: options.heartbeatIntervalMs,
      deadlineMs: options.handlerDeadlineMs,
      onLost: () => {
        assignment.lose();
        this.inFlight.abortAll();
      },
      onOverdue: () => {
        this.inFlight.markOverdue(partition);
        emit({ kind: 'handler-overdue', topic, partition, deadlineMs: options.handlerDeadlineMs });
      },
    });
  }

  async #callHandler(feed: Feed, records: readonly ConsumedRecord[], watch: HeartbeatWatch): Promise<ChunkOutcome> {
    const { handler, topic } = this.#parts;
    const { partition } = feed;
    const signal = this.inFlight.begin(partition);
    try {
      const outcome = await handler({ topic, partition, records, signal });
      // Checked in spite of its type: anything else taken for `done` would be a record lost.
      if (outcome.kind === 'done' || outcome.kind === 'wait') return outcome;
      throw new TypeError('a chunk handler answered with neither done nor wait');
    } catch (error) {
      return this.#afterThrow(partition, String(records[0]?.offset ?? 'none'), error);
    } finally {
      watch.stop();
      this.inFlight.end(partition);
    }
  }

  /** Commits first and moves on after: a chunk whose commit failed comes again, and the handler knows its records by then. */
  async #commit({ payload, partition, epoch, state }: Feed, records: readonly ConsumedRecord[]): Promise<boolean> {
    const { assignment, emit, pauses, topic } = this.#parts;
    const last = records.at(-1)?.offset ?? -1n;
    // The batch may end in control records, which nobody is shown.
    const isEnd = payload.batch.messages.at(-1)?.offset === String(last);
    const next = (isEnd ? BigInt(payload.batch.lastOffset()) : last) + 1n;
    try {
      const offsets = { topics: [{ topic, partitions: [{ partition, offset: String(next) }] }] };
      await payload.commitOffsetsIfNecessary(offsets);
    } catch (error) {
      if (isMembershipError(error)) {
        assignment.lose();
        this.inFlight.abortAll();
        throw error;
      }
      emit({ kind: 'commit-failed', topic, partition, code: describeKafkaError(error).code });
      pauses.hold(partition, this.#nextBackoff(partition));
      return false;
    }
    state.committed = next;
    if (assignment.epoch !== epoch) return false;
    payload.resolveOffset(String(last));
    state.position = next;
    state.aliveAt = monotonicNow();
    return true;
  }

  async #heartbeat(payload: EachBatchPayload): Promise<void> {
    try {
      await payload.heartbeat();
    } catch (error) {
      if (isMembershipError(error)) throw error;
      // A broken connection: kafkajs meets it again at its next fetch, where it knows how to reconnect.
    }
  }

  #noteFetch({ payload: { batch }, partition, state }: Feed): void {
    const { topic, emit } = this.#parts;
    const found = fetchedOffset(batch);
    if (found !== null && state.position !== null && found !== state.position) {
      emit({ kind: 'offset-jump', topic, partition, expected: String(state.position), found: String(found) });
    }
    state.position = found;
    state.highWatermark = BigInt(batch.highWatermark);
    state.aliveAt = monotonicNow();
  }

  #afterThrow(partition: number, offset: string, error: unknown): ChunkOutcome {
    const { emit, topic } = this.#parts;
    const retryAfterMs = this.#nextBackoff(partition);
    const failures = this.#parts.assignment.get(partition)?.failures ?? 1;
    emit({
      kind: 'handler-failed',
      topic,
      partition,
      offset,
      code: errorCode(error),
      failures,
      frames: framesOf(error),
    });
    return { kind: 'wait', reason: 'handler-failed', retryAfterMs };
  }

  #onThrow(partition: number, offset: string, error: unknown): void {
    const outcome = this.#afterThrow(partition, offset, error);
    if (outcome.kind === 'wait') this.#parts.pauses.hold(partition, outcome.retryAfterMs);
  }

  #nextBackoff(partition: number): number {
    const { assignment, options } = this.#parts;
    const state = assignment.get(partition);
    if (state !== undefined) state.failures += 1;
    return backoffMs(state?.failures ?? 1, { baseMs: options.retryMinMs, capMs: options.retryMaxMs });
  }
}

function rethrow(watch: HeartbeatWatch, matters: (error: Error) => boolean = () => true): void {
  const error = watch.membershipError();
  if (error !== null && matters(error)) throw error;
}

/** Where the fetch began: kafkajs keeps it on the batch but leaves it out of its types. */
function fetchedOffset(batch: object): bigint | null {
  return 'fetchedOffset' in batch && typeof batch.fetchedOffset === 'string' ? BigInt(batch.fetchedOffset) : null;
}

function framesOf(error: unknown): readonly string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 10);
}
