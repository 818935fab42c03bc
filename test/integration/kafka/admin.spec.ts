import { describe, expect, inject, it } from 'vitest';
import { RecordingHandler } from './recording-handler.ts';
import { TopicUnderTest } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

describe('the admin', () => {
  it('creates what is missing, with its partitions and settings, once for two replicas at a time', async () => {
    await using topic = await TopicUnderTest.create(brokers, 0);
    const config = { 'retention.ms': '3600000' };
    const wanted = [{ topic: topic.topic, partitions: 3, replicationFactor: 1, config }];
    const both = await Promise.all([topic.admin.ensureTopics(wanted), topic.admin.ensureTopics(wanted)]);
    expect(both.flatMap(({ problems }) => problems)).toEqual([]);
    expect(await topic.admin.retentionMs(topic.topic)).toBe(3_600_000);
    const again = await topic.admin.ensureTopics([{ topic: topic.topic, partitions: 5, replicationFactor: 1 }]);
    const problem = { topic: topic.topic, problem: 'fewer-partitions', wanted: 5, found: 3 };
    expect(again).toEqual({ created: [], problems: [problem] });
  });

  it('reports a topic that the broker will not create', async () => {
    await using topic = await TopicUnderTest.create(brokers, 0);
    const config = { 'retention.ms': 'for ever' };
    const { problems } = await topic.admin.ensureTopics([
      { topic: topic.topic, partitions: 1, replicationFactor: 1, config },
    ]);
    expect(problems).toEqual([{ topic: topic.topic, problem: 'not-created', code: 'invalid-config' }]);
  });

  it.each([
    [{ 'cleanup.policy': 'compact' }, Number.POSITIVE_INFINITY],
    [{ 'retention.ms': '-1' }, Number.POSITIVE_INFINITY],
    [{ 'cleanup.policy': 'compact,delete', 'retention.ms': '1000' }, 1000],
  ])('says how long a topic with %j keeps its records', async (config, expected) => {
    await using topic = await TopicUnderTest.create(brokers, 1, config);
    expect(await topic.admin.retentionMs(topic.topic)).toBe(expected);
    expect(await topic.admin.retentionMs(`${topic.topic}.missing`)).toBeNull();
  });

  it('counts the lag from what the group stored, or from the earliest record', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    await topic.produce(0, 10);
    await topic.deleteRecordsBefore(4);
    const [before] = await topic.admin.fetchLag(topic.groupId, topic.topic);
    expect(before).toEqual({ partition: 0, committed: null, lowWatermark: 4n, highWatermark: 10n, lag: 6 });
    await topic.consumer(new RecordingHandler().handle).start();
    await topic.untilCommitted(10);
    const [after] = await topic.admin.fetchLag(topic.groupId, topic.topic);
    expect(after).toMatchObject({ committed: 10n, lag: 0 });
  });
});
