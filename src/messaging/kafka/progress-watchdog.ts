import { monotonicNow } from '../../runtime/monotonic.ts';
import { lagOf } from './assignment.ts';
import type { ConsumerEventListener } from './consumer-events.ts';
import type { ConsumerOptions } from './consumer-options.ts';
import type { PartitionLag } from './kafka-admin.ts';
import type { TopicConsumer } from './topic-consumer.ts';

export interface ProgressWatchdogParts {
  readonly topic: string;
  readonly options: ConsumerOptions;
  readonly consumer: () => TopicConsumer | null;
  readonly fetchLag: () => Promise<readonly PartitionLag[]>;
  readonly emit: ConsumerEventListener;
}

/**
 * Finds what no event tells: a member that holds partitions and fetches nothing while it goes on heartbeating, and a join that never
 * ends. Its own questions go over another connection, so that they also keep the lag of idle partitions current.
 */
export class ProgressWatchdog {
  readonly #parts: ProgressWatchdogParts;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(parts: ProgressWatchdogParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look(), this.#parts.options.watchdogIntervalMs);
    this.#timer.unref();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const consumer = this.#parts.consumer();
    if (consumer !== null) {
      this.#checkJoin(consumer);
      await this.#checkPartitions(consumer);
    }
    this.start();
  }

  #checkJoin(consumer: TopicConsumer): void {
    const { options, topic, emit } = this.#parts;
    const { state } = consumer.status();
    // The broker waits a rebalance timeout for the slowest member, who may have been away for a session before.
    const limitMs = options.sessionTimeoutMs + 2 * options.rebalanceTimeoutMs;
    const afterMs = Math.round(consumer.phaseAgeMs());
    if ((state !== 'starting' && state !== 'rebalancing') || afterMs < limitMs || consumer.inFlight > 0) return;
    emit({ kind: 'join-stalled', topic, afterMs });
    consumer.fail('join-stalled');
  }

  async #checkPartitions(consumer: TopicConsumer): Promise<void> {
    const { epoch } = consumer.assignment;
    let lags: readonly PartitionLag[];
    try {
      lags = await this.#parts.fetchLag();
    } catch {
      // Without the broker nobody can make progress; kafkajs and the supervisor deal with that.
      return;
    }
    if (this.#stopped || consumer.assignment.epoch !== epoch) return;
    for (const lag of lags) this.#checkPartition(consumer, lag);
  }

  #checkPartition(consumer: TopicConsumer, { partition, committed, highWatermark, lag: groupLag }: PartitionLag): void {
    const { options, topic, emit } = this.#parts;
    const state = consumer.assignment.get(partition);
    const status = consumer.status();
    if (state === undefined || status.state !== 'running') return;
    state.highWatermark = highWatermark;
    state.committed ??= committed;
    const lag = state.position === null ? groupLag : (lagOf(state) ?? 0);
    const isPaused = status.partitions.some((one) => one.partition === partition && one.pausedUntil !== null);
    // While a handler works the others wait for it, by the way kafkajs fetches; it has a deadline of its own.
    const mayRest = lag === 0 || isPaused || consumer.inFlight > 0;
    if (mayRest) state.aliveAt = monotonicNow();
    if (monotonicNow() - state.aliveAt < options.stallAfterMs) return;
    emit({ kind: 'consumer-stalled', topic, partition, lag });
    consumer.fail('consumer-stalled');
  }
}
