import { backoffMs } from '../../runtime/backoff.ts';
import { monotonicNow } from '../../runtime/monotonic.ts';
import { errorCode } from '../../runtime/service-error.ts';
import type { ConsumerEvent, ConsumerEventListener } from './consumer-events.ts';
import { type ConsumerOptions, DEFAULT_CONSUMER_OPTIONS } from './consumer-options.ts';
import type { PartitionLag } from './kafka-admin.ts';
import { ProgressWatchdog } from './progress-watchdog.ts';
import {
  type ConsumerEnd,
  TopicConsumer,
  type TopicConsumerSettings,
  type TopicConsumerStatus,
} from './topic-consumer.ts';
import { logConsumerEvent } from './log-consumer-event.ts';
import type { Logger } from '../../observability/logger.ts';

/** A life this long, in ms, was a good one: the next restart waits the shortest time again. */
const GOOD_LIFE_MS = 30_000;
/** What a consumer that has already ended may take to leave its group, in ms. */
const DISPOSAL_MS = 5000;

export interface ConsumerSupervisorSettings extends Omit<TopicConsumerSettings, 'options' | 'onEvent'> {
  readonly options?: Partial<ConsumerOptions>;
  readonly logger: Logger;
  /** Told of every event after it was logged; for counters. */
  readonly onEvent?: ConsumerEventListener;
  /** Offsets of the topic as the broker has them now, for the watchdog; rejects while the broker is away. */
  readonly fetchLag: (groupId: string, topic: string) => Promise<readonly PartitionLag[]>;
}

export interface ConsumerStatus extends Omit<TopicConsumerStatus, 'state'> {
  readonly topic: string;
  readonly groupId: string;
  /** `restarting`: between two lives; lasts as long as a broker outage does. */
  readonly state: TopicConsumerStatus['state'] | 'restarting';
  readonly restarts: number;
  readonly lastErrorCode: string | null;
}

/** Keeps one topic consumed for as long as the process wants it: every life that ends unasked is followed by another. */
export class ConsumerSupervisor {
  readonly #settings: ConsumerSupervisorSettings;
  readonly #options: ConsumerOptions;
  readonly #watchdog: ProgressWatchdog;
  #wake: () => void = () => undefined;
  #current: TopicConsumer | null = null;
  #lives: Promise<void> = Promise.resolve();
  #phase: 'idle' | 'living' | 'restarting' | 'stopped' = 'idle';
  #restarts = 0;
  #earlierIncidents = 0;
  #lastErrorCode: string | null = null;

  constructor(settings: ConsumerSupervisorSettings) {
    const { groupId, topic, fetchLag } = settings;
    this.#settings = settings;
    this.#options = { ...DEFAULT_CONSUMER_OPTIONS, ...settings.options };
    this.#watchdog = new ProgressWatchdog({
      topic,
      options: this.#options,
      consumer: () => this.#current,
      fetchLag: () => fetchLag(groupId, topic),
      emit: (event) => this.#onEvent(event),
    });
  }

  /** Returns at once; a broker that is away only makes the first life a short one. Calling it again does nothing. */
  start(): void {
    if (this.#phase !== 'idle') return;
    this.#phase = 'living';
    this.#lives = this.#live();
    this.#watchdog.start();
  }

  /** As TopicConsumer.stop, and no other life follows. Never rejects. */
  async stop({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    this.#watchdog.stop();
    this.#phase = 'stopped';
    this.#wake();
    await this.#current?.stop({ timeoutMs });
    await this.#lives;
  }

  status(): ConsumerStatus {
    const { topic, groupId } = this.#settings;
    const current = this.#current?.status() ?? NOTHING_YET;
    return {
      ...current,
      topic,
      groupId,
      state: this.#state(current.state),
      restarts: this.#restarts,
      incidents: this.#earlierIncidents + current.incidents,
      lastErrorCode: this.#lastErrorCode,
    };
  }

  #state(current: TopicConsumerStatus['state']): ConsumerStatus['state'] {
    if (this.#phase === 'stopped') return 'stopped';
    return this.#phase === 'restarting' ? 'restarting' : current;
  }

  async #live(): Promise<void> {
    let failures = 0;
    while (this.#phase !== 'stopped') {
      const bornAt = monotonicNow();
      const end = await this.#liveOnce();
      if (end.kind === 'stopped') return;
      failures = monotonicNow() - bornAt > GOOD_LIFE_MS ? 1 : failures + 1;
      await this.#betweenLives(end.code, failures);
    }
  }

  async #liveOnce(): Promise<ConsumerEnd> {
    const consumer = new TopicConsumer({
      ...this.#settings,
      options: this.#options,
      onEvent: (event) => this.#onEvent(event),
    });
    this.#earlierIncidents += this.#current?.status().incidents ?? 0;
    this.#current = consumer;
    void consumer.start();
    const end = await consumer.ended;
    if (end.kind === 'crashed') {
      this.#onEnded(end.code);
      await consumer.stop({ timeoutMs: DISPOSAL_MS });
    }
    return end;
  }

  #onEnded(code: string): void {
    this.#lastErrorCode = code;
    if (this.#phase === 'living') this.#phase = 'restarting';
  }

  async #betweenLives(code: string, failures: number): Promise<void> {
    if (this.#phase === 'stopped') return;
    const { topic } = this.#settings;
    const inMs = backoffMs(failures, { baseMs: this.#options.restartMinMs, capMs: this.#options.restartMaxMs });
    this.#restarts += 1;
    this.#onEvent({ kind: 'restarting', topic, code, inMs, restarts: this.#restarts });
    await this.#sleep(inMs);
    if (this.#phase === 'restarting') this.#phase = 'living';
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #onEvent(event: ConsumerEvent): void {
    const { logger, onEvent } = this.#settings;
    logConsumerEvent(logger, event);
    try {
      onEvent?.(event);
    } catch (error) {
      // kafkajs calls us in the middle of a join: an error there would end the consumer.
      logger.error('kafka-consumer-listener-failed', { kind: event.kind, code: errorCode(error) });
    }
  }
}

const NOTHING_YET: TopicConsumerStatus = {
  state: 'starting',
  joinedAt: null,
  lastHeartbeatAt: null,
  lastBatchAt: null,
  partitions: [],
  incidents: 0,
};
