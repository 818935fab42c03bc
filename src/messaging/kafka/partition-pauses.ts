import { LONGEST_TIMER_MS } from '../../runtime/backoff.ts';

/** The part of a kafkajs consumer that this needs. Both throw once the consumer has stopped. */
export interface PausableConsumer {
  pause(topicPartitions: { topic: string; partitions: number[] }[]): void;
  resume(topicPartitions: { topic: string; partitions: number[] }[]): void;
}

interface Pause {
  readonly until: Date;
  readonly timer: NodeJS.Timeout;
}

/** Partitions that wait on purpose. A wait belongs to a partition that is ours: after each join it is looked at again. */
export class PartitionPauses {
  readonly #topic: string;
  readonly #consumer: PausableConsumer;
  readonly #onResumed: (partition: number) => void;
  readonly #pauses = new Map<number, Pause>();

  constructor(topic: string, consumer: PausableConsumer, onResumed: (partition: number) => void) {
    this.#topic = topic;
    this.#consumer = consumer;
    this.#onResumed = onResumed;
  }

  hold(partition: number, ms: number): void {
    clearTimeout(this.#pauses.get(partition)?.timer);
    const bounded = Math.min(Math.max(ms, 1), LONGEST_TIMER_MS);
    const timer = setTimeout(() => this.#release(partition), bounded);
    this.#pauses.set(partition, { until: new Date(Date.now() + bounded), timer });
    this.#tell('pause', partition);
  }

  until(partition: number): Date | null {
    return this.#pauses.get(partition)?.until ?? null;
  }

  /** kafkajs keeps a pause through a rejoin, also for a partition that has gone and may come back much later. */
  onJoined(assigned: readonly number[]): void {
    for (const partition of this.#pauses.keys()) {
      if (assigned.includes(partition)) this.#tell('pause', partition);
      else this.#release(partition);
    }
  }

  clear(): void {
    for (const { timer } of this.#pauses.values()) clearTimeout(timer);
    this.#pauses.clear();
  }

  #release(partition: number): void {
    clearTimeout(this.#pauses.get(partition)?.timer);
    this.#pauses.delete(partition);
    this.#tell('resume', partition);
    this.#onResumed(partition);
  }

  #tell(what: 'pause' | 'resume', partition: number): void {
    try {
      this.#consumer[what]([{ topic: this.#topic, partitions: [partition] }]);
    } catch {
      // The consumer has ended meanwhile: its successor starts without pauses.
    }
  }
}
