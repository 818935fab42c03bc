import kafkajs, { type Admin } from 'kafkajs';
import { ServiceError } from '../../runtime/service-error.ts';
import type { KafkaClient, KafkaLink } from './kafka-client.ts';
import { describeKafkaError } from './kafka-errors.ts';
import { settledWithin } from './settled-within.ts';

export interface WantedTopic {
  readonly topic: string;
  readonly partitions: number;
  /** -1 takes the broker's default. */
  readonly replicationFactor: number;
  /** Names and values as Kafka knows them, for a topic that is created: `{ 'cleanup.policy': 'compact' }`. */
  readonly config?: Readonly<Record<string, string>>;
}

export type TopicProblem =
  /** Order per key holds only while the count stays: it is reported and never changed. */
  | { readonly topic: string; readonly problem: 'fewer-partitions'; readonly wanted: number; readonly found: number }
  | { readonly topic: string; readonly problem: 'not-created'; readonly code: string }
  /** A record could come back after its identity was forgotten. */
  | {
      readonly topic: string;
      readonly problem: 'outlives-inbox';
      readonly topicDays: number | 'for ever';
      readonly inboxDays: number;
    };

export interface TopicsChecked {
  readonly created: readonly string[];
  readonly problems: readonly TopicProblem[];
}

export interface PartitionLag {
  readonly partition: number;
  /** Next offset to read that the group has stored; null when there is none. */
  readonly committed: bigint | null;
  readonly lowWatermark: bigint;
  readonly highWatermark: bigint;
  /** Records that the group has still to read. */
  readonly lag: number;
}

/** Questions to the cluster over one connection of its own, opened when first needed and opened anew after a failure. */
export class KafkaAdmin {
  readonly #kafka: KafkaClient;
  readonly #timeoutMs: number;
  #opened: { readonly link: KafkaLink; readonly admin: Promise<Admin> } | null = null;

  /** `timeoutMs`: hard limit of each call. */
  constructor({ kafka, timeoutMs = 15_000 }: { readonly kafka: KafkaClient; readonly timeoutMs?: number }) {
    this.#kafka = kafka;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Creates the topics that are missing and compares the partitions of the others; two replicas may do so at once.
   * @throws ServiceError as every method here: code `kafka-<failure>`, retryable as the cause is.
   */
  ensureTopics(wanted: readonly WantedTopic[]): Promise<TopicsChecked> {
    return this.#ask(async (admin) => {
      const existing = new Set(await admin.listTopics());
      const created: string[] = [];
      const problems: TopicProblem[] = [];
      for (const topic of wanted.filter(({ topic }) => !existing.has(topic))) {
        const code = await createTopic(admin, topic);
        if (code === null) created.push(topic.topic);
        else problems.push({ topic: topic.topic, problem: 'not-created', code });
      }
      const present = wanted.filter(({ topic }) => existing.has(topic) || created.includes(topic));
      return { created, problems: [...problems, ...(await missingPartitions(admin, present))] };
    });
  }

  /** As ensureTopics, but creates nothing: a topic that is missing is a problem. */
  checkTopics(wanted: readonly WantedTopic[]): Promise<TopicsChecked> {
    return this.#ask(async (admin) => {
      const existing = new Set(await admin.listTopics());
      const missing = wanted.filter(({ topic }) => !existing.has(topic));
      const present = wanted.filter(({ topic }) => existing.has(topic));
      const problems = missing.map(({ topic }) => ({ topic, problem: 'not-created' as const, code: 'not-there' }));
      return { created: [], problems: [...problems, ...(await missingPartitions(admin, present))] };
    });
  }

  fetchLag(groupId: string, topic: string): Promise<readonly PartitionLag[]> {
    return this.#ask(async (admin) => {
      const watermarks = await admin.fetchTopicOffsets(topic);
      const [stored] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const committed = new Map(stored?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
      return watermarks.map(({ partition, low, high }) =>
        partitionLag(partition, BigInt(low), BigInt(high), committed.get(partition) ?? -1n),
      );
    });
  }

  /** How long the topic keeps a record, in ms; Infinity when it does not delete by age; null when it is not there. */
  retentionMs(topic: string): Promise<number | null> {
    return this.#ask(async (admin) => {
      if (!(await admin.listTopics()).includes(topic)) return null;
      const type = kafkajs.ConfigResourceTypes.TOPIC;
      const configNames = ['retention.ms', 'cleanup.policy'];
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type, name: topic, configNames }],
      });
      const entries = new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
      const retention = Number(entries.get('retention.ms') ?? '-1');
      const deletes = (entries.get('cleanup.policy') ?? 'delete').split(',').includes('delete');
      return deletes && retention >= 0 ? retention : Number.POSITIVE_INFINITY;
    });
  }

  /** Asks for the cluster's brokers: resolves when Kafka answers. */
  ping(): Promise<void> {
    return this.#ask(async (admin) => void (await admin.describeCluster()));
  }

  /** Never rejects; cut off after `timeoutMs`. */
  async close({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened === null) return;
    await settledWithin(
      opened.admin.then((admin) => admin.disconnect()),
      timeoutMs,
    );
    opened.link.destroy();
  }

  async #ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    this.#opened ??= this.#open();
    const opened = this.#opened;
    const answer = opened.admin.then(question);
    if (!(await settledWithin(answer, this.#timeoutMs))) {
      this.#discard(opened.link);
      answer.catch(() => undefined);
      throw new ServiceError('kafka-timeout', 'Kafka gave no answer in time', { retryable: true });
    }
    try {
      return await answer;
    } catch (error) {
      this.#discard(opened.link);
      const { code, retryable } = describeKafkaError(error);
      throw new ServiceError(`kafka-${code}`, 'Kafka could not answer', { retryable, cause: error });
    }
  }

  #open(): { readonly link: KafkaLink; readonly admin: Promise<Admin> } {
    const link = this.#kafka.open({ requestTimeoutMs: this.#timeoutMs, retries: 2 });
    const admin = link.kafka.admin({ retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 1000 } });
    return { link, admin: admin.connect().then(() => admin) };
  }

  #discard(link: KafkaLink): void {
    if (this.#opened?.link === link) this.#opened = null;
    link.destroy();
  }
}

/** Returns null when the topic is there now, also by another's hand, else the code of the failure. */
async function createTopic(
  admin: Admin,
  { topic, partitions, replicationFactor, config }: WantedTopic,
): Promise<string | null> {
  const configEntries = Object.entries(config ?? {}).map(([name, value]) => ({ name, value }));
  try {
    await admin.createTopics({
      waitForLeaders: true,
      timeout: 10_000,
      topics: [{ topic, numPartitions: partitions, replicationFactor, configEntries }],
    });
    return null;
  } catch (error) {
    const failure = describeKafkaError(error);
    if (failure.kind === 'unreachable') throw error;
    return failure.code;
  }
}

async function missingPartitions(admin: Admin, wanted: readonly WantedTopic[]): Promise<readonly TopicProblem[]> {
  if (wanted.length === 0) return [];
  const { topics } = await admin.fetchTopicMetadata({ topics: wanted.map(({ topic }) => topic) });
  const counts = new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
  return wanted.flatMap(({ topic, partitions }) => {
    const found = counts.get(topic) ?? 0;
    return found < partitions ? [{ topic, problem: 'fewer-partitions' as const, wanted: partitions, found }] : [];
  });
}

function partitionLag(partition: number, low: bigint, high: bigint, stored: bigint): PartitionLag {
  // Kafka says -1 for none; kafkajs stores -1 and -2 for "from the end" and "from the start".
  const committed = stored < 0n ? null : stored;
  const from = committed === null || committed < low ? low : committed;
  return { partition, committed, lowWatermark: low, highWatermark: high, lag: high > from ? Number(high - from) : 0 };
}
