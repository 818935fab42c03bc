import { randomUUID } from 'node:crypto';
import { DEFAULT_CONSUMER_OPTIONS, type ConsumerOptions } from '../../../src/messaging/kafka/consumer-options.ts';
import type { ConsumerEvent, ConsumerEventListener } from '../../../src/messaging/kafka/consumer-events.ts';
import { ConsumerSupervisor } from '../../../src/messaging/kafka/consumer-supervisor.ts';
import { KafkaAdmin } from '../../../src/messaging/kafka/kafka-admin.ts';
import { createKafkaClient, type KafkaClient } from '../../../src/messaging/kafka/kafka-client.ts';
import type { ChunkHandler } from '../../../src/messaging/kafka/record-chunk.ts';
import { TopicConsumer } from '../../../src/messaging/kafka/topic-consumer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { pollUntil } from '../../support/stack/poll-until.ts';

/** 6 s is the shortest session that a broker allows by default; the other times only make the tests short. */
const QUICK: ConsumerOptions = {
  ...DEFAULT_CONSUMER_OPTIONS,
  sessionTimeoutMs: 6000,
  rebalanceTimeoutMs: 15_000,
  heartbeatIntervalMs: 200,
  maxWaitMs: 100,
  retryMinMs: 20,
  retryMaxMs: 100,
  retries: 2,
  restartMinMs: 50,
  restartMaxMs: 200,
};

interface Told {
  readonly client?: KafkaClient;
  readonly chunkSize?: number;
  readonly options?: Partial<ConsumerOptions>;
  /** Called after the event was written down. */
  readonly onEvent?: ConsumerEventListener;
}

/** One topic and one group of its own on a broker, with consumers to put to the test and raw kafkajs to look at them from outside. */
export class TopicUnderTest implements AsyncDisposable {
  readonly topic = `test.${randomUUID()}`;
  readonly groupId = `group-of-${this.topic}`;
  readonly events: ConsumerEvent[] = [];
  readonly client: KafkaClient;
  readonly admin: KafkaAdmin;
  readonly #raw;
  readonly #producer;
  readonly #cleanups: (() => Promise<unknown>)[] = [];

  private constructor(brokers: string) {
    const logger = silentLogger;
    this.client = createKafkaClient({ brokers: brokers.split(','), clientId: 'kafka-test', logger });
    this.admin = new KafkaAdmin({ kafka: this.client });
    const link = this.client.open();
    this.#raw = link.kafka.admin();
    this.#producer = link.kafka.producer({
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    });
    this.#cleanups.push(
      () => this.#raw.disconnect(),
      () => this.#producer.disconnect(),
      () => this.admin.close({ timeoutMs: 2000 }),
    );
  }

  static async create(brokers: string, partitions = 1, config: Record<string, string> = {}): Promise<TopicUnderTest> {
    const created = new TopicUnderTest(brokers);
    await Promise.all([created.#raw.connect(), created.#producer.connect()]);
    if (partitions > 0) await created.createTopic(partitions, config);
    return created;
  }

  async createTopic(partitions: number, config: Record<string, string> = {}): Promise<void> {
    await this.admin.ensureTopics([{ topic: this.topic, partitions, replicationFactor: 1, config }]);
  }

  /** Values `from` to `to - 1` as text. */
  async produce(from: number, to: number, partition = 0): Promise<void> {
    const messages = Array.from({ length: to - from }, (_, index) => ({ value: String(from + index), partition }));
    await this.#producer.send({ topic: this.topic, messages });
  }

  async sendRaw(
    messages: { value: string | Buffer | null; key?: string; headers?: Record<string, string | string[]> }[],
  ): Promise<void> {
    await this.#producer.send({ topic: this.topic, messages });
  }

  async deleteRecordsBefore(offset: number, partition = 0): Promise<void> {
    // kafkajs asks for the leaders only of topics that it was asked about before.
    await this.#raw.fetchTopicOffsets(this.topic);
    await this.#raw.deleteTopicRecords({ topic: this.topic, partitions: [{ partition, offset: String(offset) }] });
  }

  async topics(): Promise<readonly string[]> {
    return await this.#raw.listTopics();
  }

  async members(): Promise<number> {
    const { groups } = await this.#raw.describeGroups([this.groupId]);
    return groups[0]?.members.length ?? 0;
  }

  /** Offsets stored by the group, by partition; -1 for none. */
  async committed(): Promise<readonly number[]> {
    const [stored] = await this.#raw.fetchOffsets({ groupId: this.groupId, topics: [this.topic] });
    const partitions = stored?.partitions.toSorted((a, b) => a.partition - b.partition) ?? [];
    return partitions.map(({ offset }) => Number(offset));
  }

  async untilCommitted(...offsets: number[]): Promise<void> {
    await until(async () => String(await this.committed()) === String(offsets), `committed offsets ${String(offsets)}`);
  }

  consumer(
    handler: ChunkHandler,
    { client = this.client, chunkSize = 100, options = {}, onEvent }: Told = {},
  ): TopicConsumer {
    const consumer = new TopicConsumer({
      kafka: client,
      groupId: this.groupId,
      topic: this.topic,
      handler,
      chunkSize,
      options: { ...QUICK, ...options },
      onEvent: (event) => {
        this.events.push(event);
        onEvent?.(event);
      },
    });
    this.#cleanups.unshift(() => consumer.stop({ timeoutMs: 3000 }));
    return consumer;
  }

  supervisor(
    handler: ChunkHandler,
    { client = this.client, chunkSize = 100, options = {}, onEvent }: Told = {},
  ): ConsumerSupervisor {
    const supervisor = new ConsumerSupervisor({
      kafka: client,
      groupId: this.groupId,
      topic: this.topic,
      handler,
      chunkSize,
      logger: silentLogger,
      options: { ...QUICK, ...options },
      fetchLag: (groupId, topic) => this.admin.fetchLag(groupId, topic),
      onEvent: (event) => {
        this.events.push(event);
        onEvent?.(event);
      },
    });
    this.#cleanups.unshift(() => supervisor.stop({ timeoutMs: 3000 }));
    return supervisor;
  }

  kinds(): readonly ConsumerEvent['kind'][] {
    return this.events.map(({ kind }) => kind);
  }

  async untilEvent<K extends ConsumerEvent['kind']>(kind: K): Promise<Extract<ConsumerEvent, { kind: K }>> {
    const isOfKind = (event: ConsumerEvent): event is Extract<ConsumerEvent, { kind: K }> => event.kind === kind;
    return await until(() => this.events.find(isOfKind), `event ${kind}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cleanup of this.#cleanups) await cleanup();
  }
}

/** Asks until the answer is neither null, undefined nor false. @throws after 20 s, with `what` it waited for */
export async function until<T>(
  probe: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  what: string,
): Promise<T> {
  const answer = await pollUntil(async () => (await probe()) || null, { deadlineMs: 20_000, everyMs: 20 });
  if (answer === null) throw new Error(`waited in vain for ${what}`);
  return answer;
}
