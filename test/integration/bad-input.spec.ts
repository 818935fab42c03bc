import kafkajs from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ConsumedRecord } from '../../src/messaging/kafka/record-chunk.ts';
import { createDataSource } from '../../src/database/data-source.ts';
import { loadHeaders, type StoredHeader } from '../../src/messaging/outbox/outbox-entry.ts';
import { topicAddress, type TopicName } from '../../src/messaging/topics.ts';
import { badRecords, type BadRecord } from '../support/bad-records.ts';
import { subscriberOf } from '../support/campaign.ts';
import { domainHandlers } from '../support/domain-handlers.ts';
import { eventually } from '../support/eventually.ts';
import { eventRecord, openMessagingRig, recordFrom, type MessagingRig } from '../support/messaging-rig.ts';
import { readTopic, type ReadRecord } from '../support/read-topic.ts';
import { createWorld, type World } from '../support/world.ts';

describe('each kind of bad input, between two good records of its partition', () => {
  let rig: MessagingRig;
  const handlers = domainHandlers();

  beforeAll(async () => {
    rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
  });
  afterAll(async () => {
    await rig.close();
  });

  it.each(badRecords())('$name: $reason', async (each) => {
    const record = recordOf(each);
    const good = [randomUUID(), randomUUID()];
    const [before, after] = good.map((id) => goodRecord(each.topic, id));
    if (!before || !after) throw new Error('two good records');
    const outcome = await rig.consumer(each.topic, handlers).take([before, record, after]);
    expect(outcome).toEqual({ kind: 'done' });
    const letters = (await rig.deadLetters()).filter((row) => row.record_offset === String(record.offset));
    expect(letters).toHaveLength(1);
    expect(letters[0]?.reason).toBe(each.reason);
    expect(sameBytes(letters[0], record)).toBe(true);
    expect(letters[0]?.detail).toMatch(each.detail);
    expect(loadHeaders(letters[0]?.headers ?? [])).toEqual(record.headers);
    expect(await rig.query('SELECT event_id FROM inbox WHERE event_id = ANY ($1)', [good])).toHaveLength(2);
  });

  it.each<[string, (id: string) => ConsumedRecord]>([
    ['a key that is JSON', (id) => ({ ...goodRecord('subscribers', id), key: Buffer.from('{"id":1}') })],
    ['no key', (id) => ({ ...goodRecord('subscribers', id), key: null })],
    ['a header twice with the same value', (id) => twice(goodRecord('subscribers', id), 'ce_id')],
    ['an unknown header twice', (id) => twice(twice(goodRecord('subscribers', id), 'x'), 'x')],
    [
      'an invalid traceparent',
      (id) => ({
        ...goodRecord('subscribers', id),
        headers: [...goodRecord('subscribers', id).headers, ['traceparent', Buffer.from('x')]],
      }),
    ],
    ['a fact of a year ago', (id) => goodRecord('subscribers', id, new Date(Date.now() - 365 * 86_400_000))],
  ])('%s is not bad: it is handled', async (_name, make) => {
    const id = randomUUID();
    expect(await rig.consumer('subscribers', handlers).take([make(id)])).toEqual({ kind: 'done' });
    expect(await rig.query('SELECT status FROM subscribers WHERE subscriber_id = $1', [id])).toEqual([
      { status: 'confirmed' },
    ]);
  });

  it('a fact of a year ago does not win against a newer one', async () => {
    const id = randomUUID();
    const deleted = eventRecord('einmal.subscriber.deleted.v1', { subscriberId: id });
    await rig.consumer('subscribers', handlers).take([deleted, goodRecord('subscribers', id, new Date('2020-01-01'))]);
    expect(await rig.query('SELECT status FROM subscribers WHERE subscriber_id = $1', [id])).toEqual([
      { status: 'deleted' },
    ]);
  });
});

describe('all of it at once, through the broker and a process of the service', () => {
  let world: World;
  const all = badRecords();
  const GOOD_COUNT = 300;

  beforeAll(async () => {
    world = await createWorld({
      databaseUrl: inject('databaseUrl'),
      kafkaBrokers: inject('kafkaBrokers'),
      config: { messaging: { partitions: 1, chunkSize: 50 } },
    });
    await createTopics(world, ['subscribers', 'suppressions', 'operations']);
  });
  afterAll(async () => {
    await world.tearDown();
  });

  it('every good record is handled, and every bad one is in the table and on the topic, with its bytes', async () => {
    await publishMixed(world, all, GOOD_COUNT);
    const service = await world.start(['consumer', 'relay']);
    await service.ready();
    const dataSource = await createDataSource({
      url: world.databaseUrl,
      poolSize: 2,
      applicationName: 'test',
    }).initialize();
    const counted = async (table: string) =>
      (await dataSource.query<{ count: number }[]>(`SELECT count(*)::integer FROM ${table}`))[0]?.count ?? 0;
    await eventually('every record to be handled or dead', 40_000, async () => {
      return (await counted('dead_letters')) >= all.length && (await counted('subscribers')) >= GOOD_COUNT;
    });
    expect(await counted('subscribers')).toBe(GOOD_COUNT);
    await eventually('the outbox to be empty', 20_000, async () => (await counted('outbox')) === 0);
    const rows = await dataSource.query<TableRow[]>('SELECT * FROM dead_letters');
    await dataSource.destroy();
    expect(rows).toHaveLength(all.length);

    const published = await readTopic(world.kafkaBrokers, topicAddress(world.topicPrefix, 'dead-letters'), all.length);
    for (const each of all) {
      const row = rows.find(
        (row) => row.reason === each.reason && each.detail.test(row.detail) && sameBytes(row, each),
      );
      expect(row && each.name).toBe(each.name);
      const letter = published.find(
        (record) =>
          record.one('einmal_dlt_offset') === row?.record_offset && record.one('einmal_dlt_topic') === row.topic,
      );
      expect(letter && each.name).toBe(each.name);
      expect(sameBytes(letter && { record_key: letter.key, record_value: letter.value }, each)).toBe(true);
      expectHeaders(letter, each, world.topicPrefix);
    }
    expect(published).toHaveLength(all.length);
    expect(await service.stop()).toBe(0);
  });
});

interface TableRow {
  readonly topic: string;
  readonly reason: string;
  readonly detail: string;
  readonly record_offset: string;
  readonly record_key: Buffer | null;
  readonly record_value: Buffer | null;
  readonly headers: readonly StoredHeader[];
}

function same(one: Buffer | null, other: Buffer | null): boolean {
  return one === other || (one !== null && other !== null && one.equals(other));
}

/** Not by `toEqual`, which takes seconds for the large ones. */
function sameBytes(
  row: Pick<TableRow, 'record_key' | 'record_value'> | undefined,
  each: Pick<BadRecord, 'key' | 'value'>,
): boolean {
  if (!row) return false;
  return same(row.record_key, each.key) && same(row.record_value, each.value);
}

function expectHeaders(letter: ReadRecord | undefined, each: BadRecord, prefix: string): void {
  for (const [name, given] of Object.entries(each.headers)) {
    const values = (Array.isArray(given) ? given : [given]).map((value) => Buffer.from(value as string));
    expect(letter?.all(name)).toEqual(values);
  }
  expect(letter?.one('einmal_dlt_reason')).toBe(each.reason);
  expect(letter?.one('einmal_dlt_exception')).toMatch(each.detail);
  expect(letter?.one('einmal_dlt_topic')).toBe(topicAddress(prefix, each.topic));
  expect(letter?.one('einmal_dlt_partition')).toBe('0');
  expect(Number(letter?.one('einmal_dlt_attempts'))).toBeGreaterThan(0);
  expect(letter?.one('einmal_dlt_consumer')).toBe(`${prefix}${each.topic}`);
  expect(Date.parse(letter?.one('einmal_dlt_timestamp') ?? '')).not.toBeNaN();
}

function recordOf({ topic, key, value, headers, timestamp }: BadRecord): ConsumedRecord {
  const list = Object.entries(headers).flatMap(([name, given]) =>
    (Array.isArray(given) ? given : [given]).map((each) => [name, Buffer.from(each as string)] as const),
  );
  return recordFrom(topic, { key, value, headers: list, ...(timestamp ? { timestamp } : {}) });
}

/** A good record for the topic; for subscribers, its id is the subscriber's. */
function goodRecord(topic: TopicName, id: string, time = new Date()): ConsumedRecord {
  if (topic === 'operations')
    return eventRecord('einmal.operation.cancel-requested.v1', { operationKey: id, by: 'x' }, { id });
  if (topic === 'suppressions')
    return eventRecord(
      'einmal.suppression.requested.v1',
      { email: `${id}@example.org`, scope: 'all', reason: 'manual' },
      { id },
    );
  return eventRecord('einmal.subscriber.upserted.v1', subscriberOf(1, { subscriberId: id }), { id, time });
}

function twice(record: ConsumedRecord, name: string): ConsumedRecord {
  const value = record.headers.find(([known]) => known === name)?.[1] ?? Buffer.from(randomUUID());
  return { ...record, headers: [...record.headers, [name, value]] };
}

/** As an operator would who lets peers send more than Kafka's usual 1 MiB, and keep their own timestamps. */
async function createTopics(world: World, topics: readonly TopicName[]): Promise<void> {
  const admin = client(world).admin();
  await admin.connect();
  await admin.createTopics({
    waitForLeaders: true,
    topics: topics.map((topic) => ({
      topic: topicAddress(world.topicPrefix, topic),
      numPartitions: 1,
      replicationFactor: 1,
      configEntries: [
        { name: 'max.message.bytes', value: String(8 * 1024 * 1024) },
        // No more than the inbox remembers, or the service does not start. A record of a year ago is gone when the broker next
        // looks, which is long after it is read.
        { name: 'retention.ms', value: String(14 * 86_400_000) },
      ],
    })),
  });
  await admin.disconnect();
}

async function publishMixed(world: World, all: readonly BadRecord[], goodCount: number): Promise<void> {
  const producer = client(world).producer();
  await producer.connect();
  const step = Math.ceil(goodCount / all.length);
  for (const [index, { topic, key, value, headers, timestamp }] of all.entries()) {
    const subscribers = Array.from({ length: step }, (_, offset) => subscriberOf(index * step + offset));
    await world.peer.publish(
      'einmal.subscriber.upserted.v1',
      subscribers.slice(0, Math.max(0, goodCount - index * step)),
    );
    const message = {
      key,
      value,
      headers: { ...headers },
      ...(timestamp ? { timestamp: String(timestamp.getTime()) } : {}),
    };
    await producer.send({ topic: topicAddress(world.topicPrefix, topic), messages: [message] });
  }
  await producer.disconnect();
}

function client(world: World) {
  return new kafkajs.Kafka({ brokers: world.kafkaBrokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
}
