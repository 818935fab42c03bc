import { describe, expect, inject, it } from 'vitest';
import { DONE, RecordingHandler, numbers } from './recording-handler.ts';
import { TopicUnderTest } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

describe('where reading begins', () => {
  it('J: a new group reads what was there before it', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const handler = new RecordingHandler();
    await topic.produce(0, 5, 0);
    await topic.produce(5, 10, 1);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(5, 5);
    expect(handler.done.toSorted()).toEqual(numbers(0, 10));
  });

  it('J: records that vanished while nobody read are an incident, and reading goes on with the earliest', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const before = new RecordingHandler();
    const after = new RecordingHandler();
    await topic.produce(0, 10);
    const first = topic.consumer(before.handle);
    await first.start();
    await topic.untilCommitted(10);
    await first.stop({ timeoutMs: 3000 });
    await topic.produce(10, 20);
    await topic.deleteRecordsBefore(15);
    const second = topic.consumer(after.handle);
    await second.start();
    await topic.untilCommitted(20);
    expect(after.done).toEqual(numbers(15, 20));
    expect(await topic.untilEvent('offset-out-of-range')).toMatchObject({ partition: 0, expected: null });
    expect(second.status().incidents).toBe(1);
  });

  it('J: records that vanished while a partition waited are an incident that says how many', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler(async (_, call) => {
      if (call > 1) return DONE;
      await topic.deleteRecordsBefore(7);
      return { kind: 'wait', reason: 'test', retryAfterMs: 10 };
    });
    await topic.produce(0, 10);
    const consumer = topic.consumer(handler.handle);
    await consumer.start();
    await topic.untilCommitted(10);
    expect(handler.done).toEqual(numbers(7, 10));
    expect(await topic.untilEvent('offset-out-of-range')).toMatchObject({ expected: '0' });
    expect(await topic.untilEvent('offset-jump')).toMatchObject({ expected: '0', found: '7' });
    expect(consumer.status().incidents).toBe(2);
  });
});
