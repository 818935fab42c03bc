import type { Consumer, ConsumerCrashEvent } from 'kafkajs';
import { deadlineIn, monotonicNow } from '../../runtime/monotonic.ts';
import { Assignment, type PartitionState, type PartitionStatus, lagOf } from './assignment.ts';
import { ChunkRunner } from './chunk-runner.ts';
import type { ConsumerEventListener } from './consumer-events.ts';
import type { ConsumerOptions } from './consumer-options.ts';
import type { KafkaClient, KafkaLink } from './kafka-client.ts';
import { describeKafkaError } from './kafka-errors.ts';
import { PartitionPauses } from './partition-pauses.ts';
import type { ChunkHandler } from './record-chunk.ts';
import { settledWithin } from './settled-within.ts';

export interface TopicConsumerSettings {
  readonly kafka: KafkaClient;
  /** Must be used for this topic alone: kafkajs hands a group's topics to members that do not read them. */
  readonly groupId: string;
  readonly topic: string;
  readonly handler: ChunkHandler;
  /** Most records of one chunk. */
  readonly chunkSize: number;
  readonly options: ConsumerOptions;
  /** Must not throw: it is called in the middle of kafkajs' work. */
  readonly onEvent: ConsumerEventListener;
}

export type ConsumerEnd = { readonly kind: 'stopped' } | { readonly kind: 'crashed'; readonly code: string };

export interface TopicConsumerStatus {
  /** `failed`: a handler is over its deadline and has not come back. */
  readonly state: 'starting' | 'running' | 'rebalancing' | 'stopped' | 'failed';
  readonly joinedAt: Date | null;
  readonly lastHeartbeatAt: Date | null;
  readonly lastBatchAt: Date | null;
  readonly partitions: readonly PartitionStatus[];
  /** Offsets out of range and jumps seen. */
  readonly incidents: number;
}

/** One life of one kafkajs consumer of one topic. It never starts twice and never restarts itself: see ConsumerSupervisor. */
export class TopicConsumer {
  readonly assignment = new Assignment();
  /** Resolves once, when this life is over for whatever reason. Then call `stop` to free what it holds. */
  readonly ended: Promise<ConsumerEnd>;
  readonly #settings: TopicConsumerSettings;
  readonly #link: KafkaLink;
  readonly #consumer: Consumer;
  readonly #pauses: PartitionPauses;
  readonly #runner: ChunkRunner;
  readonly #end: (end: ConsumerEnd) => void;
  #phase: 'starting' | 'running' | 'rebalancing' | 'stopped' = 'starting';
  #phaseSince = monotonicNow();
  #starting: Promise<void> = Promise.resolve();
  #joinedAt: Date | null = null;
  #lastHeartbeatAt: Date | null = null;
  #lastBatchAt: Date | null = null;
  #incidents = 0;

  constructor(settings: TopicConsumerSettings) {
    const { kafka, groupId, topic, options } = settings;
    const { promise, resolve } = Promise.withResolvers<ConsumerEnd>();
    this.ended = promise;
    this.#end = resolve;
    this.#settings = settings;
    this.#link = kafka.open({ onOffsetOutOfRange: ({ partition }) => this.#onOutOfRange(partition) });
    this.#consumer = this.#link.kafka.consumer({
      groupId,
      allowAutoTopicCreation: false,
      sessionTimeout: options.sessionTimeoutMs,
      rebalanceTimeout: options.rebalanceTimeoutMs,
      heartbeatInterval: options.heartbeatIntervalMs,
      maxWaitTimeInMs: options.maxWaitMs,
      maxBytesPerPartition: options.maxBytesPerPartition,
      // Only the supervisor restarts: two that do would leave two consumers.
      retry: { ...RETRY, retries: options.retries, restartOnFailure: () => Promise.resolve(false) },
    });
    this.#pauses = new PartitionPauses(topic, this.#consumer, (partition) => this.#markAlive(partition));
    const emit: ConsumerEventListener = (event) => this.#emit(event);
    this.#runner = new ChunkRunner({ ...settings, assignment: this.assignment, pauses: this.#pauses, emit });
    this.#listen();
  }

  /** Resolves when the group was joined or this life has ended; never rejects. */
  start(): Promise<void> {
    this.#starting = this.#connectAndJoin();
    return this.#starting;
  }

  /**
   * No further chunk reaches the handler from the call on. The chunk in hand may finish and commit in the first half of the time
   * and is told to abort then. A join on its way is waited for: kafkajs cannot leave a group that it is still joining, and
   * would go on to consume after its `disconnect`. What is left when the time is over is cut off. Never rejects.
   */
  async stop({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    const deadline = deadlineIn(timeoutMs);
    this.#runner.drain();
    this.#pauses.clear();
    await settledWithin(this.#runner.inFlight.idle(), timeoutMs / 2);
    this.#runner.inFlight.abortAll();
    if (await settledWithin(this.#starting, deadline.remainingMs())) {
      await settledWithin(this.#consumer.disconnect(), deadline.remainingMs());
    }
    this.#link.destroy();
    this.#finish({ kind: 'stopped' });
  }

  /** Ends this life from outside, as if kafkajs had crashed. */
  fail(code: string): void {
    this.#runner.drain();
    this.#finish({ kind: 'crashed', code });
  }

  /** Chunks in the handler's hands. */
  get inFlight(): number {
    return this.#runner.inFlight.size;
  }

  /** How long ago, in ms, the phase began; together with the status it tells a join that never comes to an end. */
  phaseAgeMs(): number {
    return monotonicNow() - this.#phaseSince;
  }

  status(): TopicConsumerStatus {
    return {
      state: this.#runner.inFlight.hasOverdue() ? 'failed' : this.#phase,
      joinedAt: this.#joinedAt,
      lastHeartbeatAt: this.#lastHeartbeatAt,
      lastBatchAt: this.#lastBatchAt,
      partitions: this.assignment.partitions().flatMap((partition) => this.#partitionStatus(partition)),
      incidents: this.#incidents,
    };
  }

  async #connectAndJoin(): Promise<void> {
    const { topic, options } = this.#settings;
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: options.concurrentPartitions,
        eachBatch: this.#runner.eachBatch,
      });
    } catch (error) {
      this.#crash(describeKafkaError(error).code);
    }
  }

  #listen(): void {
    const { GROUP_JOIN, REBALANCING, HEARTBEAT, START_BATCH_PROCESS, END_BATCH_PROCESS, CRASH, DISCONNECT } =
      this.#consumer.events;
    this.#consumer.on(GROUP_JOIN, ({ payload }) =>
      this.#onJoined(payload.memberAssignment[this.#settings.topic] ?? []),
    );
    this.#consumer.on(REBALANCING, () => this.#onRebalancing());
    this.#consumer.on(HEARTBEAT, () => void (this.#lastHeartbeatAt = new Date()));
    this.#consumer.on(START_BATCH_PROCESS, () => void (this.#lastBatchAt = new Date()));
    this.#consumer.on(END_BATCH_PROCESS, ({ payload }) => this.#onBatchEnd(payload));
    this.#consumer.on(CRASH, (event) => this.#onCrash(event));
    // A crash disconnects first and says so after; only a disconnect that nobody explains is a crash of its own.
    this.#consumer.on(DISCONNECT, () => void setTimeout(() => this.#crash('unexpected-disconnect'), 2000).unref());
  }

  #onJoined(partitions: readonly number[]): void {
    if (this.#phase === 'stopped') return;
    this.assignment.join(partitions);
    // What an earlier assignment left in a handler is for nothing now.
    this.#runner.inFlight.abortAll();
    this.#pauses.onJoined(partitions);
    this.#joinedAt = new Date();
    this.#enter('running');
    this.#emit({ kind: 'joined', topic: this.#settings.topic, partitions });
  }

  #onRebalancing(): void {
    this.assignment.lose();
    this.#enter('rebalancing');
    this.#emit({ kind: 'rebalancing', topic: this.#settings.topic });
  }

  /** A batch of control records alone is never shown to eachBatch, but moves the position. */
  #onBatchEnd(batch: { partition: number; batchSize: number; lastOffset: string; highWatermark: string }): void {
    const state = this.assignment.get(batch.partition);
    if (batch.batchSize > 0 || state === undefined) return;
    state.position = BigInt(batch.lastOffset) + 1n;
    state.highWatermark = BigInt(batch.highWatermark);
    state.aliveAt = monotonicNow();
  }

  #onOutOfRange(partition: number): void {
    const position = this.assignment.get(partition)?.position ?? null;
    const expected = position === null ? null : String(position);
    this.#emit({ kind: 'offset-out-of-range', topic: this.#settings.topic, partition, expected });
  }

  #onCrash({ payload }: ConsumerCrashEvent): void {
    this.#crash(describeKafkaError(payload.error).code);
  }

  #crash(code: string): void {
    if (this.#phase === 'stopped') return;
    this.#runner.drain();
    this.#emit({ kind: 'crashed', topic: this.#settings.topic, code });
    this.#finish({ kind: 'crashed', code });
  }

  #finish(end: ConsumerEnd): void {
    this.assignment.lose();
    this.#runner.inFlight.abortAll();
    this.#pauses.clear();
    this.#enter('stopped');
    this.#end(end);
  }

  #enter(phase: 'running' | 'rebalancing' | 'stopped'): void {
    if (this.#phase === 'stopped') return;
    this.#phase = phase;
    this.#phaseSince = monotonicNow();
  }

  #markAlive(partition: number): void {
    const state = this.assignment.get(partition);
    if (state !== undefined) state.aliveAt = monotonicNow();
  }

  #partitionStatus(partition: number): readonly PartitionStatus[] {
    const state = this.assignment.get(partition);
    return state === undefined ? [] : [statusOf(partition, state, this.#pauses.until(partition))];
  }

  #emit(event: Parameters<ConsumerEventListener>[0]): void {
    if (event.kind === 'offset-out-of-range' || event.kind === 'offset-jump') this.#incidents += 1;
    this.#settings.onEvent(event);
  }
}

const RETRY = { initialRetryTime: 300, maxRetryTime: 5000, factor: 0.2, multiplier: 2 };

function statusOf(partition: number, state: PartitionState, pausedUntil: Date | null): PartitionStatus {
  const { committed, highWatermark } = state;
  return {
    partition,
    committed: committed === null ? null : String(committed),
    highWatermark: highWatermark === null ? null : String(highWatermark),
    lag: lagOf(state),
    pausedUntil,
  };
}
