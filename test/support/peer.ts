import { randomUUID } from 'node:crypto';
import kafkajs, { type Consumer, type Producer } from 'kafkajs';
import { contractOf, type ConsumedType, type DataOf } from '../../src/messaging/contracts/registry.ts';
import { writeEnvelope } from '../../src/messaging/envelope.ts';
import { patchRequestQueue } from '../../src/messaging/kafka/kafkajs-patches.ts';
import { topicAddress } from '../../src/messaging/topics.ts';
import { validateEvent } from './validate-event.ts';

/** A fact that Einmal published, as a peer reads it. */
export interface PeerEvent {
  readonly type: string;
  readonly id: string;
  readonly tenantId: string;
  readonly causationId: string | null;
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** What the AsyncAPI document says against it, or null. */
  readonly flaw: string | null;
}

export interface RawRecord {
  readonly key: string | Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, string | Buffer>;
}

/** An event-driven neighbour: publishes CloudEvents and reads the facts that come back, with a Kafka client of its own. */
export interface Peer {
  /** Publishes events of one type in order; resolves with their ids when the broker has them. */
  publish<T extends ConsumedType>(type: T, data: readonly DataOf<T>[], options?: PublishOptions): Promise<string[]>;
  /** Publishes bytes as they are to a topic, by its logical name. */
  publishRaw(topic: Parameters<typeof topicAddress>[1], records: readonly RawRecord[]): Promise<void>;
  /** All facts read so far, in the order of their partitions. */
  readonly events: readonly PeerEvent[];
  /** Starts to read the facts from the beginning of the topic. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

export interface PublishOptions {
  readonly tenantId?: string;
  readonly time?: Date;
  readonly ids?: readonly string[];
}

const BATCH = 1_000;

export async function createPeer(kafkaBrokers: string, topicPrefix: string): Promise<Peer> {
  patchRequestQueue();
  const kafka = new kafkajs.Kafka({
    brokers: kafkaBrokers.split(','),
    clientId: 'peer',
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const events: PeerEvent[] = [];
  let consumer: Consumer | null = null;
  return {
    events,
    publish: async (type, data, options = {}) => {
      const ids = data.map((_, index) => options.ids?.[index] ?? randomUUID());
      const messages = data.map((each, index) => envelopeOf(type, each, ids[index] ?? '', options));
      await sendAll(producer, topicAddress(topicPrefix, contractOf(type).topic), messages);
      return ids;
    },
    publishRaw: async (topic, records) => {
      await sendAll(producer, topicAddress(topicPrefix, topic), records);
    },
    listen: async () => {
      consumer = kafka.consumer({
        groupId: `peer-${randomUUID()}`,
        allowAutoTopicCreation: false,
        maxWaitTimeInMs: 200,
      });
      await consumer.connect();
      await consumer.subscribe({ topics: [topicAddress(topicPrefix, 'events')], fromBeginning: true });
      await consumer.run({
        eachBatch: ({ batch }) => {
          for (const message of batch.messages) events.push(eventOf(message));
          return Promise.resolve();
        },
      });
    },
    close: async () => {
      await Promise.all([producer.disconnect(), consumer?.disconnect()]);
    },
  };
}

function envelopeOf<T extends ConsumedType>(type: T, data: DataOf<T>, id: string, options: PublishOptions): RawRecord {
  return writeEnvelope<T>({
    type,
    id,
    source: '/peer',
    time: options.time ?? new Date(),
    tenantId: options.tenantId ?? 'demo',
    data,
  });
}

async function sendAll(producer: Producer, topic: string, records: readonly RawRecord[]): Promise<void> {
  for (let start = 0; start < records.length; start += BATCH) {
    await producer.send({ topic, messages: records.slice(start, start + BATCH).map((record) => ({ ...record })) });
  }
}

interface ReadMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Record<string, unknown>;
}

function eventOf({ key, value, headers = {} }: ReadMessage): PeerEvent {
  const texts = Object.fromEntries(
    Object.entries(headers).flatMap(([name, found]) => (Buffer.isBuffer(found) ? [[name, found.toString()]] : [])),
  );
  const keyText = key?.toString() ?? '';
  return {
    type: texts['ce_type'] ?? '',
    id: texts['ce_id'] ?? '',
    tenantId: texts['ce_tenantid'] ?? '',
    causationId: texts['ce_causationid'] ?? null,
    key: keyText,
    data: JSON.parse(value?.toString() ?? '{}') as Record<string, unknown>,
    flaw: validateEvent(texts, value, { channel: 'events', key: keyText }),
  };
}
