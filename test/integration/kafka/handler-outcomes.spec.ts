import { describe, expect, inject, it } from 'vitest';
import type { ConsumerEventListener } from '../../../src/messaging/kafka/consumer-events.ts';
import type { ChunkOutcome } from '../../../src/messaging/kafka/record-chunk.ts';
import { DONE, Gate, RecordingHandler, numbers, valuesOf } from './recording-handler.ts';
import { TopicUnderTest, until } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

describe('what a handler answers', () => {
  it.each([
    ['a TypeError', () => Promise.reject(new TypeError('a bug with ann@example.org in it'))],
    [
      'an error that looks like a rebalance',
      () => Promise.reject(Object.assign(new Error(), { type: 'ILLEGAL_GENERATION' })),
    ],
    ['an answer that is none', () => Promise.resolve(undefined as unknown as ChunkOutcome)],
  ])('B: %s: the chunk comes again, the consumer lives on', async (_, misbehave) => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler((_, call) => (call <= 2 ? misbehave() : DONE));
    await topic.produce(0, 5);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(5);
    expect(handler.chunks.map(valuesOf)).toEqual([numbers(0, 5), numbers(0, 5), numbers(0, 5)]);
    expect(await topic.untilEvent('handler-failed')).toMatchObject({ partition: 0, offset: '0', failures: 1 });
    expect(JSON.stringify(topic.events)).not.toContain('example.org');
    expect(topic.kinds().filter((kind) => kind === 'joined' || kind === 'crashed')).toEqual(['joined']);
  });

  it('C, D: a partition that waits holds up no other', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const handler = new RecordingHandler(({ partition }) =>
      partition === 0 ? { kind: 'wait', reason: 'database-away', retryAfterMs: 600_000 } : DONE,
    );
    await topic.produce(0, 10, 0);
    await topic.produce(10, 20, 1);
    const consumer = topic.consumer(handler.handle);
    await consumer.start();
    await topic.untilEvent('partition-waiting');
    await topic.produce(20, 30, 1);
    await topic.untilCommitted(-1, 20);
    expect(handler.chunks.filter(({ partition }) => partition === 0)).toHaveLength(1);
    const [first] = consumer.status().partitions;
    expect(first?.pausedUntil?.getTime()).toBeGreaterThan(Date.now() + 500_000);
  });

  it('L: the same records come again after the wait, and nothing was committed meanwhile', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const committed: (readonly number[])[] = [];
    const handler = new RecordingHandler(async (_, call) => {
      committed.push(await topic.committed());
      return call === 1 ? { kind: 'wait', reason: 'test', retryAfterMs: 100 } : DONE;
    });
    await topic.produce(0, 5);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(5);
    expect(handler.chunks.map(valuesOf)).toEqual([numbers(0, 5), numbers(0, 5)]);
    expect(committed).toEqual([[-1], [-1]]);
  });

  it('commits chunk by chunk, at the offset that comes next, and keeps the order', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const gate = new Gate();
    const handler = new RecordingHandler(async (_, call) => {
      if (call === 3) await gate.pass();
      return DONE;
    });
    await topic.produce(0, 25);
    const consumer = topic.consumer(handler.handle, { chunkSize: 10 });
    await consumer.start();
    await gate.entered;
    await topic.untilCommitted(20);
    gate.open();
    await topic.untilCommitted(25);
    expect(handler.chunks.map(({ records }) => records.length)).toEqual([10, 10, 5]);
    expect(handler.done).toEqual(numbers(0, 25));
    await until(() => consumer.status().partitions[0]?.lag === 0, 'lag 0');
  });

  it('hands over tombstones, bytes of the key, and every value of a repeated header', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler();
    await topic.sendRaw([{ value: null, key: '{"id":1}', headers: { a: ['1', '2'], constructor: 'x', b: '' } }]);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(1);
    const [record] = handler.chunks[0]?.records ?? [];
    expect(record).toMatchObject({ value: null, key: Buffer.from('{"id":1}'), offset: 0n, partition: 0 });
    expect(record?.headers.map(([name, value]) => [name, value.toString()])).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['constructor', 'x'],
      ['b', ''],
    ]);
  });

  it('E: a stop lets the chunk in hand finish and commit, and takes no other', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const gate = new Gate();
    const handler = new RecordingHandler(async () => {
      await gate.pass();
      return DONE;
    });
    await topic.produce(0, 30);
    const consumer = topic.consumer(handler.handle, { chunkSize: 10 });
    await consumer.start();
    await gate.entered;
    const stopping = consumer.stop({ timeoutMs: 10_000 });
    gate.open();
    await stopping;
    expect(await topic.committed()).toEqual([10]);
    expect(handler.chunks).toHaveLength(1);
    expect(await topic.members()).toBe(0);
  });

  it('E: a stop that waits for one partition takes nothing more of another', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const gates = [new Gate(), new Gate()];
    const handler = new RecordingHandler(async ({ partition }) => {
      await gates[partition]?.pass();
      return DONE;
    });
    await topic.produce(0, 30, 0);
    await topic.produce(30, 60, 1);
    const consumer = topic.consumer(handler.handle, { chunkSize: 10 });
    await consumer.start();
    await Promise.all(gates.map(({ entered }) => entered));
    const stopping = consumer.stop({ timeoutMs: 10_000 });
    gates[0]?.open();
    await topic.untilCommitted(10, -1);
    gates[1]?.open();
    await stopping;
    expect(handler.chunks).toHaveLength(2);
    expect(await topic.committed()).toEqual([10, 10]);
  });

  it('B: an error in code of our own, around the handler, does not reach kafkajs', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler((_, call) =>
      call === 1 ? { kind: 'wait', reason: 'test', retryAfterMs: 10 } : DONE,
    );
    await topic.produce(0, 5);
    await topic.consumer(handler.handle, { onEvent: throwsOnWait }).start();
    await topic.untilCommitted(5);
    expect(topic.kinds()).not.toContain('crashed');
  });

  it('E: a stop does not wait longer than it may for a handler that is stuck, and tells it first', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const gate = new Gate();
    const handler = new RecordingHandler(async () => {
      await gate.pass();
      return DONE;
    });
    await topic.produce(0, 5);
    const consumer = topic.consumer(handler.handle);
    await consumer.start();
    await gate.entered;
    await consumer.stop({ timeoutMs: 400 });
    expect(handler.chunks[0]?.signal.aborted).toBe(true);
    gate.open();
    await consumer.ended;
    expect(await topic.committed()).toEqual([-1]);
  });
});

const throwsOnWait: ConsumerEventListener = ({ kind }) => {
  if (kind === 'partition-waiting') throw new TypeError('a bug in a listener');
};
