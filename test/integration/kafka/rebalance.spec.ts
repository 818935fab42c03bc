import { describe, expect, inject, it } from 'vitest';
import { answerInBrokersPlace, kafkajsError, offsetsIn, protocolError } from './broker-answers.ts';
import { DONE, Gate, RecordingHandler, numbers } from './recording-handler.ts';
import { TopicUnderTest, until } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

describe('a consumer and its group', () => {
  it.each([
    ['REBALANCE_IN_PROGRESS', 27],
    ['ILLEGAL_GENERATION', 22],
    ['NOT_COORDINATOR', 16],
  ])('A: survives a commit that is answered %s, and has the chunk again', async (_, code) => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler();
    let refused = 0;
    using _answers = answerInBrokersPlace('offsetCommit', (request) => {
      if (offsetsIn(request, topic.groupId) !== null && ++refused === 1) throw protocolError(code);
    });
    await topic.produce(0, 10);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(10);
    expect(handler.done).toEqual([...numbers(0, 10), ...numbers(0, 10)]);
    // Joined again by kafkajs itself, at once: it saw the answer as the broker gave it.
    expect(topic.kinds()).toEqual(['joined', 'rebalancing', 'joined']);
  });

  it('C: a commit that fails for another reason is tried again with its chunk, and ends nothing', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler();
    let failed = 0;
    using _answers = answerInBrokersPlace('offsetCommit', (request) => {
      if (offsetsIn(request, topic.groupId) !== null && ++failed <= 3) throw kafkajsError('KafkaJSConnectionError');
    });
    await topic.produce(0, 10);
    await topic.consumer(handler.handle, { options: { retries: 0 } }).start();
    await topic.untilCommitted(10);
    expect(handler.chunks).toHaveLength(4);
    expect(topic.kinds()).not.toContain('crashed');
    expect(topic.kinds().filter((kind) => kind === 'joined')).toHaveLength(1);
  });

  it('H: commits nothing for a chunk whose assignment was lost meanwhile, and tells its handler', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const lost = Promise.withResolvers<void>();
    const handler = new RecordingHandler(async ({ signal }, call) => {
      if (call > 1) return DONE;
      signal.addEventListener('abort', () => lost.resolve());
      await lost.promise;
      return DONE;
    });
    const commits: (readonly string[])[] = [];
    let beats = 0;
    using _commits = answerInBrokersPlace('offsetCommit', (request) => {
      const offsets = offsetsIn(request, topic.groupId);
      if (offsets !== null) commits.push(offsets);
    });
    using _heartbeats = answerInBrokersPlace('heartbeat', (request) => {
      if ((request as { groupId: string }).groupId !== topic.groupId || handler.chunks.length === 0) return;
      if (++beats === 1) throw protocolError(22);
    });
    await topic.produce(0, 10);
    await topic.consumer(handler.handle).start();
    await topic.untilCommitted(10);
    expect(await topic.untilEvent('assignment-lost')).toMatchObject({ partition: 0, handled: 10 });
    expect(handler.chunks).toHaveLength(2);
    expect(commits).toEqual([['10']]);
  });

  it('A, H: a member that joins gets its share once the chunk in hand is handled and committed', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const gate = new Gate();
    const first = new RecordingHandler(async (_, call) => {
      if (call === 1) await gate.pass();
      return DONE;
    });
    const second = new RecordingHandler();
    await topic.produce(0, 5, 0);
    await topic.produce(5, 10, 1);
    await topic.consumer(first.handle, { options: { concurrentPartitions: 1 } }).start();
    await gate.entered;
    const joining = topic.consumer(second.handle).start();
    await until(async () => (await topic.members()) === 2, 'the second member at the group');
    gate.open();
    await joining;
    await topic.untilCommitted(5, 5);
    await topic.produce(10, 15, 0);
    await topic.produce(15, 20, 1);
    await topic.untilCommitted(10, 10);
    const all = [...first.done, ...second.done].map(Number).toSorted((a, b) => a - b);
    expect(all.map(String)).toEqual(numbers(0, 20));
    expect(second.done.length).toBeGreaterThan(0);
    expect(topic.kinds()).not.toContain('crashed');
  });

  it('E: after a stop during a pending join the handler is never called', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const gate = new Gate();
    const first = new RecordingHandler(async (_, call) => {
      if (call === 1) await gate.pass();
      return DONE;
    });
    const stopped = new RecordingHandler();
    await topic.produce(0, 5, 0);
    await topic.consumer(first.handle).start();
    await gate.entered;
    const late = topic.consumer(stopped.handle);
    void late.start();
    await until(async () => (await topic.members()) === 2, 'the second member at the group');
    await late.stop({ timeoutMs: 300 });
    gate.open();
    // Whoever gets a partition now would be given these at once.
    await topic.untilCommitted(5, -1);
    await topic.produce(5, 10, 0);
    await topic.produce(10, 15, 1);
    await topic.untilCommitted(10, 5);
    expect(first.done.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers(0, 15));
    expect(stopped.chunks).toEqual([]);
  });

  it('L: a wait belongs to the assignment: a partition that went and came back is read again', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const waits = new RecordingHandler((_, call) =>
      call <= 2 ? { kind: 'wait', reason: 'test', retryAfterMs: 600_000 } : DONE,
    );
    const takes = new RecordingHandler();
    await topic.produce(0, 1, 0);
    await topic.produce(1, 2, 1);
    const first = topic.consumer(waits.handle);
    await first.start();
    await until(() => waits.chunks.length === 2, 'both partitions waiting');
    const second = topic.consumer(takes.handle);
    await second.start();
    await until(() => takes.done.length === 1, 'the other member at work');
    const moved = takes.chunks[0]?.partition ?? -1;
    await second.stop({ timeoutMs: 3000 });
    await until(() => first.status().partitions.length === 2, 'both partitions back');
    await topic.produce(2, 3, moved);
    await until(() => waits.done.includes('2'), 'a record of the partition that came back');
    const paused = first.status().partitions.filter(({ pausedUntil }) => pausedUntil !== null);
    expect(paused.map(({ partition }) => partition)).toEqual([1 - moved]);
  });
});
