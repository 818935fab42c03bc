import kafkajs, { type ICustomPartitioner, type Message, type Producer } from 'kafkajs';
import type { Logger } from '../../observability/logger.ts';
import { type Deadline, deadlineIn } from '../../runtime/monotonic.ts';
import type { KafkaClient, KafkaLink } from './kafka-client.ts';
import { type KafkaFailure, describeKafkaError } from './kafka-errors.ts';
import { settledWithin } from './settled-within.ts';
import { halves, sliceBySize } from './slice-records.ts';

export interface RecordToPublish {
  readonly topic: string;
  /** Decides the partition by Java's murmur2; null spreads. */
  readonly key: Buffer | string | null;
  /** null is a tombstone. */
  readonly value: Buffer | null;
  /** A list writes the header once per value. */
  readonly headers: Readonly<Record<string, string | Buffer | readonly (string | Buffer)[]>>;
}

/** `acknowledged` counts the leading records of the batch that the broker has stored; of the others it may have stored some. */
export type PublishOutcome =
  | { readonly kind: 'acknowledged' }
  /** Publish again, in the same order, from the first one not acknowledged. */
  | { readonly kind: 'unavailable'; readonly code: string; readonly retryable: boolean; readonly acknowledged: number }
  /** The record at index `acknowledged` is the first that the broker will not take (`unknown-topic...`: not as things are). */
  | { readonly kind: 'refused'; readonly code: string; readonly acknowledged: number };

export interface KafkaProducerSettings {
  readonly kafka: KafkaClient;
  readonly logger: Logger;
  /** Hard limit of one publish in ms, from its turn on. Default 30,000. */
  readonly timeoutMs?: number;
  /** Longest wait for one answer in ms. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Most bytes of one produce request; below the broker's `max.message.bytes`, which holds per partition. Default 900,000. */
  readonly requestBytes?: number;
}

const PUBLISH_RETRIES = 3;

/**
 * Idempotent producer, one produce request at a time. After any failure it takes a new producer id: kafkajs gives the numbers of a
 * failed request to the next one, and the broker would take other records under numbers it has seen for a repetition,
 * acknowledge them, and drop them.
 */
export class KafkaProducer {
  readonly #settings: Required<KafkaProducerSettings>;
  #opened: { readonly link: KafkaLink; readonly producer: Producer; readonly ready: Promise<void> } | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  #rebuilds = 0;
  #lastErrorCode: string | null = null;

  constructor(settings: KafkaProducerSettings) {
    this.#settings = { timeoutMs: 30_000, requestTimeoutMs: 10_000, requestBytes: 900_000, ...settings };
  }

  /**
   * Publishes in order per topic and partition; calls wait for each other. Large batches go out as several requests, one after
   * the other. At least once: after `unavailable` the same records may be in Kafka already. Never rejects.
   * @param timeoutMs hard limit from its turn on; the connections of one that takes longer are cut
   */
  publish(batch: readonly RecordToPublish[], timeoutMs: number = this.#settings.timeoutMs): Promise<PublishOutcome> {
    const outcome = this.#turn.then(() => this.#publishInTurn(batch, timeoutMs));
    this.#turn = outcome;
    return outcome;
  }

  status(): { readonly rebuilds: number; readonly lastErrorCode: string | null } {
    return { rebuilds: this.#rebuilds, lastErrorCode: this.#lastErrorCode };
  }

  /** Waits for the publish in hand and disconnects, at most `timeoutMs`; later calls are answered `unavailable`. Never rejects. */
  async close({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    this.#closed = true;
    const deadline = deadlineIn(timeoutMs);
    await settledWithin(this.#turn, timeoutMs);
    const opened = this.#opened;
    this.#opened = null;
    if (opened === null) return;
    await settledWithin(opened.producer.disconnect(), deadline.remainingMs());
    opened.link.destroy();
  }

  async #publishInTurn(batch: readonly RecordToPublish[], timeoutMs: number): Promise<PublishOutcome> {
    const deadline = deadlineIn(timeoutMs);
    const queue = sliceBySize(batch, this.#settings.requestBytes);
    let acknowledged = 0;
    for (let slice = queue.shift(); slice !== undefined; slice = queue.shift()) {
      if (this.#closed) return { kind: 'unavailable', code: 'producer-closed', retryable: false, acknowledged };
      const failure = await this.#send(slice, deadline);
      if (failure === null) acknowledged += slice.length;
      else if (failure.kind === 'too-large' && slice.length > 1) queue.unshift(...halves(slice));
      else return refusalOf(failure, acknowledged);
    }
    return { kind: 'acknowledged' };
  }

  /** Returns null when all of it is stored. */
  async #send(slice: readonly RecordToPublish[], deadline: Deadline): Promise<KafkaFailure | null> {
    this.#opened ??= this.#open();
    const { producer, ready } = this.#opened;
    const sent = ready.then(() => producer.sendBatch({ acks: -1, topicMessages: byTopic(slice) }));
    try {
      if (!(await settledWithin(sent, deadline.remainingMs()))) {
        sent.catch(() => undefined);
        return this.#rebuildAfter({ kind: 'unreachable', code: 'publish-timeout', retryable: true });
      }
      await sent;
      return null;
    } catch (error) {
      return this.#rebuildAfter(describeKafkaError(error));
    }
  }

  #open(): { readonly link: KafkaLink; readonly producer: Producer; readonly ready: Promise<void> } {
    const { kafka, requestTimeoutMs } = this.#settings;
    const link = kafka.open({ requestTimeoutMs, retries: 2 });
    const producer = link.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: murmur2Partitioner,
      // Few: whatever outlasts them is answered by a new producer id, never by the numbers of the old one.
      retry: { retries: PUBLISH_RETRIES, initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2 },
    });
    return { link, producer, ready: producer.connect() };
  }

  #rebuildAfter(failure: KafkaFailure): KafkaFailure {
    this.#opened?.link.destroy();
    this.#opened = null;
    this.#rebuilds += 1;
    this.#lastErrorCode = failure.code;
    this.#settings.logger.warn('kafka-producer-rebuilt', { code: failure.code, rebuilds: this.#rebuilds });
    return failure;
  }
}

function refusalOf({ kind, code, retryable }: KafkaFailure, acknowledged: number): PublishOutcome {
  const refused = kind === 'too-large' || kind === 'unknown-topic' || kind === 'invalid-record';
  return refused ? { kind: 'refused', code, acknowledged } : { kind: 'unavailable', code, retryable, acknowledged };
}

function byTopic(records: readonly RecordToPublish[]): { topic: string; messages: Message[] }[] {
  const topics = Map.groupBy(records, ({ topic }) => topic);
  return [...topics].map(([topic, ofTopic]) => ({ topic, messages: ofTopic.map(toMessage) }));
}

function toMessage({ key, value, headers }: RecordToPublish): Message {
  const copied = Object.entries(headers).map(
    ([name, given]) => [name, Array.isArray(given) ? [...given] : given] as const,
  );
  return { key, value, headers: Object.fromEntries(copied) as NonNullable<Message['headers']> };
}

/**
 * Java's. A record without a key keeps the partition it was given first: kafkajs asks again at each retry, and another answer
 * would put other records under the same sequence numbers.
 */
const murmur2Partitioner: ICustomPartitioner = () => {
  const choose = kafkajs.Partitioners.DefaultPartitioner();
  const chosen = new WeakMap<Message, number>();
  return (args) => {
    if (args.message.key !== null && args.message.key !== undefined) return choose(args);
    const partition = chosen.get(args.message) ?? choose(args);
    chosen.set(args.message, partition);
    return partition;
  };
};
