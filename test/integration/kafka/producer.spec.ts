import { describe, expect, inject, it } from 'vitest';
import { KafkaProducer, type RecordToPublish } from '../../../src/messaging/kafka/kafka-producer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { RecordingHandler, numbers } from './recording-handler.ts';
import { spied } from './spied-client.ts';
import { TopicUnderTest } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

function producerFor(
  { client }: Pick<TopicUnderTest, 'client'>,
  requestBytes = 900_000,
): AsyncDisposable & KafkaProducer {
  const producer = new KafkaProducer({ kafka: client, logger: silentLogger, requestBytes });
  return Object.assign(producer, { [Symbol.asyncDispose]: () => producer.close({ timeoutMs: 3000 }) });
}

function record(topic: string, value: string, key: string | null = 'key'): RecordToPublish {
  return { topic, key, value: Buffer.from(value), headers: { id: value } };
}

describe('the producer', () => {
  it('N: keeps the order of calls and of records, also in several requests', async () => {
    await using topic = await TopicUnderTest.create(brokers, 3);
    await using producer = producerFor(topic, 1000);
    const handler = new RecordingHandler();
    const batches = [numbers(0, 50), numbers(50, 100), numbers(100, 150)];
    const published = batches.map((batch) => producer.publish(batch.map((value) => record(topic.topic, value))));
    expect(await Promise.all(published)).toEqual(Array.from({ length: 3 }, () => ({ kind: 'acknowledged' })));
    await topic.consumer(handler.handle).start();
    await expect.poll(() => handler.done, { timeout: 10_000 }).toEqual(numbers(0, 150));
    expect(handler.chunks[0]?.records[0]?.headers).toEqual([['id', Buffer.from('0')]]);
  });

  it('N: chooses the partition as the Java client does', async () => {
    await using topic = await TopicUnderTest.create(brokers, 7);
    await using producer = producerFor(topic);
    const handler = new RecordingHandler();
    // Hashes from Apache Kafka's own test of Utils.murmur2, made positive as its partitioner does.
    const hashes: readonly (readonly [key: string, hash: number])[] = [
      ['21', -973_932_308],
      ['foobar', -790_332_482],
      ['a-little-bit-long-string', -985_981_536],
      ['a-little-bit-longer-string', -1_486_304_829],
      ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
    ];
    await producer.publish(hashes.map(([key]) => record(topic.topic, key, key)));
    await topic.consumer(handler.handle).start();
    await expect.poll(() => handler.done.length, { timeout: 10_000 }).toBe(hashes.length);
    const found = handler.chunks.flatMap(({ records }) =>
      records.map(({ key, partition }) => [String(key), partition]),
    );
    const expected = hashes.map(([key, hash]) => [key, (hash & 0x7f_ff_ff_ff) % 7] as const);
    expect(new Map(found as [string, number][])).toEqual(new Map(expected));
  });

  it('N: refuses a topic that is not there, and does not create it', async () => {
    await using topic = await TopicUnderTest.create(brokers, 1);
    const { client, producerConfigs } = spied(topic.client);
    await using producer = producerFor({ client });
    const missing = `${topic.topic}.missing`;
    const outcome = await producer.publish([record(missing, 'a')]);
    expect(outcome).toEqual({ kind: 'refused', code: 'unknown-topic-or-partition', acknowledged: 0 });
    expect(await topic.topics()).not.toContain(missing);
    // The broker of the tests would not create it either, so what the client asks for is looked at too.
    expect(producerConfigs[0]).toMatchObject({
      allowAutoTopicCreation: false,
      idempotent: true,
      maxInFlightRequests: 1,
    });
    expect(await producer.publish([record(topic.topic, 'b')])).toEqual({ kind: 'acknowledged' });
  });

  it('N: finds the one record that is too large, and stores those before it', async () => {
    await using topic = await TopicUnderTest.create(brokers, 1, { 'max.message.bytes': '10000' });
    await using producer = producerFor(topic);
    const handler = new RecordingHandler();
    const values = [...numbers(0, 20), 'x'.repeat(20_000), '21'];
    const outcome = await producer.publish(values.map((value) => record(topic.topic, value)));
    expect(outcome).toEqual({ kind: 'refused', code: 'message-too-large', acknowledged: 20 });
    await topic.consumer(handler.handle).start();
    await expect.poll(() => handler.done, { timeout: 10_000 }).toEqual(numbers(0, 20));
  });

  it('answers unavailable after close, and acknowledges an empty batch without the broker', async () => {
    await using topic = await TopicUnderTest.create(brokers, 1);
    await using producer = producerFor(topic);
    expect(await producer.publish([])).toEqual({ kind: 'acknowledged' });
    await producer.close({ timeoutMs: 1000 });
    expect(await producer.publish([record(topic.topic, 'a')])).toMatchObject({
      kind: 'unavailable',
      code: 'producer-closed',
    });
  });
});
