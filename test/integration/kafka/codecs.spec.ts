import { describe, expect, inject, it } from 'vitest';
import { RecordingHandler, numbers } from './recording-handler.ts';
import { TopicUnderTest } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

describe('compressed topics', () => {
  // The broker compresses anew what it stores, so the codec of the topic is what the consumer has to read.
  it.each(['gzip', 'snappy', 'lz4', 'zstd'])('F: reads %s', async (codec) => {
    await using topic = await TopicUnderTest.create(brokers, 1, { 'compression.type': codec });
    const handler = new RecordingHandler();
    await topic.produce(0, 100);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(100);
    expect(handler.done).toEqual(numbers(0, 100));
    expect(topic.kinds()).not.toContain('crashed');
  });
});
