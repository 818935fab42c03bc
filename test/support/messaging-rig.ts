import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source.ts';
import {
  contractOf,
  producedContract,
  validate,
  type ConsumedType,
  type DataOf,
} from '../../src/messaging/contracts/registry.ts';
import { problemsInWords } from '../../src/messaging/contracts/validate.ts';
import { writeEnvelope } from '../../src/messaging/envelope.ts';
import type { HandlerRegistry } from '../../src/messaging/inbox/consumed-event.ts';
import { InboxPipeline } from '../../src/messaging/inbox/inbox.pipeline.ts';
import type { InboxCounts } from '../../src/messaging/inbox/inbox-observer.ts';
import type { ChunkOutcome, ConsumedRecord } from '../../src/messaging/kafka/record-chunk.ts';
import { loadHeaders, type StoredHeader } from '../../src/messaging/outbox/outbox-entry.ts';
import { topicAddress, type TopicName } from '../../src/messaging/topics.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createDatabase } from './database.ts';

export const PREFIX = 'rig.';
export const OUTBOX_LIMITS = { buckets: 16, maxMessageBytes: 900_000 };

export interface StoredEvent {
  readonly outboxId: string;
  readonly topic: string;
  readonly key: string | null;
  readonly type: string;
  readonly causationId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface DeadLetterRow {
  readonly tenant_id: string | null;
  readonly record_offset: string;
  readonly reason: string;
  readonly detail: string;
  readonly attempts: number;
  readonly record_key: Buffer | null;
  readonly record_value: Buffer | null;
  readonly headers: readonly StoredHeader[];
}

/** A migrated database of one's own, and inbox pipelines in this process that write to it. */
export interface MessagingRig {
  readonly dataSource: DataSource;
  query<R = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<R[]>;
  consumer(topic: TopicName, handlers: HandlerRegistry, parts?: ConsumerParts): TestConsumer;
  /** Messages that wait in the outbox, in the order in which they were written. */
  events(): Promise<StoredEvent[]>;
  deadLetters(): Promise<DeadLetterRow[]>;
  close(): Promise<void>;
}

export interface ConsumerParts {
  readonly name?: string;
  readonly retentionDays?: number;
  readonly deadLetterTopic?: string;
  readonly dataSource?: DataSource;
}

export interface TestConsumer {
  readonly settled: InboxCounts[];
  take(records: readonly ConsumedRecord[], signal?: AbortSignal): Promise<ChunkOutcome>;
}

export async function openMessagingRig(databaseUrl: string, template: string, poolSize = 30): Promise<MessagingRig> {
  const database = await createDatabase(databaseUrl, { template });
  const dataSource = await openDataSource(database.url, poolSize);
  const query = async <R>(text: string, values: readonly unknown[] = []): Promise<R[]> =>
    await dataSource.query<R[]>(text, [...values]);
  return {
    dataSource,
    query,
    consumer: (topic, handlers, parts = {}) => consumerOf(parts.dataSource ?? dataSource, topic, handlers, parts),
    events: async () => await readEvents(query),
    deadLetters: async () => await query<DeadLetterRow>('SELECT * FROM dead_letters ORDER BY dead_letter_id'),
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}

export async function openDataSource(url: string, poolSize: number): Promise<DataSource> {
  return await createDataSource({ url, poolSize, applicationName: 'messaging-test' }).initialize();
}

function consumerOf(
  dataSource: DataSource,
  topic: TopicName,
  handlers: HandlerRegistry,
  { name = `rig.${topic}`, retentionDays = 14, deadLetterTopic = topicAddress(PREFIX, 'dead-letters') }: ConsumerParts,
): TestConsumer {
  const settled: InboxCounts[] = [];
  const pipeline = new InboxPipeline(
    dataSource,
    handlers,
    {
      consumer: name,
      decode: {
        topic,
        limits: { maxBytes: 1_048_576, maxDepth: 64 },
        isTenant: (tenantId) => tenantId === 'demo' || tenantId === 'other',
        now: () => new Date(),
      },
      retentionDays,
      deadLetterTopic,
      outbox: OUTBOX_LIMITS,
    },
    { settled: (_consumer, counts) => void settled.push(counts) },
    silentLogger,
  );
  return {
    settled,
    take: async (records, signal = new AbortController().signal) =>
      await pipeline.handleChunk({ topic: topicAddress(PREFIX, topic), partition: 0, records, signal }),
  };
}

let nextOffset = 0n;

/** A record as the consumer gets it; each has an offset of its own. */
export function recordFrom(topic: TopicName, parts: Partial<ConsumedRecord>): ConsumedRecord {
  return {
    topic: topicAddress(PREFIX, topic),
    partition: 0,
    offset: nextOffset++,
    timestamp: new Date(),
    key: null,
    value: null,
    headers: [],
    ...parts,
  };
}

export interface EventParts {
  readonly id?: string;
  readonly source?: string;
  readonly tenantId?: string;
  readonly time?: Date;
  readonly record?: Partial<ConsumedRecord>;
}

/** The record of an event, as a peer writes it. */
export function eventRecord<T extends ConsumedType>(type: T, data: DataOf<T>, parts: EventParts = {}): ConsumedRecord {
  const { headers, key, value } = writeEnvelope<T>({
    type,
    id: parts.id ?? randomUUID(),
    source: parts.source ?? '/peer',
    time: parts.time ?? new Date(),
    tenantId: parts.tenantId ?? 'demo',
    data,
  });
  return recordFrom(contractOf(type).topic, {
    key: Buffer.from(key),
    value,
    headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const),
    ...parts.record,
  });
}

/** What is published keeps its own contract. */
function checkedData(type: string, value: Buffer | null): Record<string, unknown> {
  const data = JSON.parse(value?.toString() ?? '{}') as Record<string, unknown>;
  const contract = producedContract(type);
  const checked = contract === undefined ? { ok: true as const } : validate(contract, data);
  if (!checked.ok) throw new Error(`${type}: ${problemsInWords(checked.problems)}`);
  return data;
}

interface OutboxTextRow {
  readonly outbox_id: string;
  readonly topic: string;
  readonly message_key: Buffer | null;
  readonly message_value: Buffer | null;
  readonly headers: readonly StoredHeader[];
}

async function readEvents(query: MessagingRig['query']): Promise<StoredEvent[]> {
  const rows = await query<OutboxTextRow>('SELECT * FROM outbox ORDER BY outbox_id');
  return rows
    .filter((row) => row.topic === topicAddress(PREFIX, 'events'))
    .map((row) => {
      const headers = new Map(loadHeaders(row.headers).map(([name, value]) => [name, String(value)]));
      return {
        outboxId: row.outbox_id,
        topic: row.topic,
        key: row.message_key?.toString() ?? null,
        type: headers.get('ce_type') ?? '',
        causationId: headers.get('ce_causationid') ?? null,
        data: checkedData(headers.get('ce_type') ?? '', row.message_value),
      };
    });
}
