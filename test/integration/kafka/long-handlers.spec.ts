import { describe, expect, inject, it } from 'vitest';
import { DONE, Gate, RecordingHandler, numbers } from './recording-handler.ts';
import { TopicUnderTest, until } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');
const SESSION_MS = 6000;

describe('handlers that take longer than the session', () => {
  it.concurrent('G: heartbeats keep the membership while a handler works', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const gate = new Gate();
    const handler = new RecordingHandler(async () => {
      await gate.pass();
      return DONE;
    });
    await topic.produce(0, 5);
    const consumer = topic.consumer(handler.handle, { options: { sessionTimeoutMs: SESSION_MS } });
    await consumer.start();
    await gate.entered;
    const beat = (): number => consumer.status().lastHeartbeatAt?.getTime() ?? 0;
    const first = await until(beat, 'the first heartbeat');
    await until(() => beat() > first + SESSION_MS + 1000, 'heartbeats for longer than a session');
    gate.open();
    await topic.untilCommitted(5);
    expect(handler.chunks).toHaveLength(1);
    expect(topic.kinds()).toEqual(['joined']);
  });

  it.concurrent(
    'G, H: a handler over its deadline gets no more heartbeats, fails the health, and commits nothing',
    async () => {
      await using topic = await TopicUnderTest.create(brokers);
      const gate = new Gate();
      const stuck = new RecordingHandler(async (_, call) => {
        if (call === 1) await gate.pass();
        return DONE;
      });
      const other = new RecordingHandler();
      await topic.produce(0, 5);
      const consumer = topic.consumer(stuck.handle, {
        options: { sessionTimeoutMs: SESSION_MS, handlerDeadlineMs: 500 },
      });
      await consumer.start();
      await gate.entered;
      await topic.untilEvent('handler-overdue');
      expect(consumer.status().state).toBe('failed');
      expect(stuck.chunks[0]?.signal.aborted).toBe(true);
      // The broker evicts the stuck member, so that another one has the partition, goes on, and is further than the first.
      await topic.consumer(other.handle).start();
      await topic.produce(5, 10);
      await topic.untilCommitted(10);
      expect(other.done).toEqual(numbers(0, 10));
      gate.open();
      await until(() => consumer.status().state === 'running', 'the first member back in the group');
      expect(await topic.committed()).toEqual([10]);
      expect(topic.kinds()).not.toContain('crashed');
    },
  );
});
