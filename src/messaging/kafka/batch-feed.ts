import type { EachBatchPayload } from 'kafkajs';
import { monotonicNow } from '../../runtime/monotonic.ts';
import type { Assignment, PartitionState } from './assignment.ts';
import type { ConsumerEventListener } from './consumer-events.ts';
import { describeKafkaError, isMembershipError } from './kafka-errors.ts';

export interface BatchFeedParts {
  readonly payload: EachBatchPayload;
  readonly assignment: Assignment;
  readonly state: PartitionState;
  readonly emit: ConsumerEventListener;
}

export type CommitResult =
  | { readonly kind: 'committed' }
  /** Stored, but the group has joined again meanwhile and reads on from what it found. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'failed'; readonly code: string }
  /** By the group: this member has to join again. */
  | { readonly kind: 'refused'; readonly error: Error };

/** One fetched batch under the assignment that it was fetched for. */
export class BatchFeed {
  readonly payload: EachBatchPayload;
  readonly partition: number;
  readonly #assignment: Assignment;
  readonly #epoch: number;
  readonly #state: PartitionState;

  constructor({ payload, assignment, state, emit }: BatchFeedParts) {
    this.payload = payload;
    this.partition = payload.batch.partition;
    this.#assignment = assignment;
    this.#epoch = assignment.epoch;
    this.#state = state;
    this.#noteFetch(emit);
  }

  /** Another epoch: whatever comes of this batch counts for nothing. */
  isLost(): boolean {
    return this.#assignment.epoch !== this.#epoch;
  }

  isCurrent(): boolean {
    return !this.isLost() && this.payload.isRunning() && !this.payload.isStale();
  }

  /**
   * Commits first and moves on after: a chunk whose commit failed comes again, and its handler knows the records by then. Only the
   * payload's function will do: `consumer.commitOffsets` hides a rebalance from kafkajs, and that kills its consumer.
   */
  async commitThrough(last: bigint): Promise<CommitResult> {
    const { batch } = this.payload;
    const { topic, partition } = batch;
    // The batch may end in control records, which nobody is shown.
    const isEnd = batch.messages.at(-1)?.offset === String(last);
    const next = (isEnd ? BigInt(batch.lastOffset()) : last) + 1n;
    try {
      await this.payload.commitOffsetsIfNecessary({
        topics: [{ topic, partitions: [{ partition, offset: String(next) }] }],
      });
    } catch (error) {
      if (isMembershipError(error)) return { kind: 'refused', error };
      return { kind: 'failed', code: describeKafkaError(error).code };
    }
    this.#state.committed = next;
    this.#state.failures = 0;
    if (this.isLost()) return { kind: 'outdated' };
    this.payload.resolveOffset(String(last));
    this.#state.position = next;
    this.#state.aliveAt = monotonicNow();
    return { kind: 'committed' };
  }

  /** Rejects with membership errors only. */
  async heartbeat(): Promise<void> {
    try {
      await this.payload.heartbeat();
    } catch (error) {
      if (isMembershipError(error)) throw error;
      // A broken connection: kafkajs meets it again at its next fetch, where it knows how to reconnect.
    }
  }

  #noteFetch(emit: ConsumerEventListener): void {
    const { batch } = this.payload;
    const { topic, partition } = batch;
    const { position } = this.#state;
    const found = fetchedOffset(batch);
    if (found !== null && position !== null && found !== position) {
      emit({ kind: 'offset-jump', topic, partition, expected: String(position), found: String(found) });
    }
    this.#state.position = found;
    this.#state.highWatermark = BigInt(batch.highWatermark);
    this.#state.aliveAt = monotonicNow();
  }
}

/** Where the fetch began: kafkajs keeps it on the batch but leaves it out of its types. */
function fetchedOffset(batch: object): bigint | null {
  return 'fetchedOffset' in batch && typeof batch.fetchedOffset === 'string' ? BigInt(batch.fetchedOffset) : null;
}
