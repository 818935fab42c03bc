import { describe, expect, inject, it } from 'vitest';
import { answerInBrokersPlace, kafkajsError } from './broker-answers.ts';
import { DONE, RecordingHandler, numbers } from './recording-handler.ts';
import { spied } from './spied-client.ts';
import { TopicUnderTest, until } from './topic-under-test.ts';

const brokers = inject('kafkaBrokers');

describe('a supervised consumer', () => {
  it('B: is built anew after a crash that kafkajs does not recover from', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler();
    const supervisor = topic.supervisor(handler.handle);
    supervisor.start();
    await topic.untilEvent('joined');
    let crashed = false;
    using _answers = answerInBrokersPlace('fetch', (request) => {
      const { topics } = request as { topics: { topic: string }[] };
      if (crashed || !topics.some((one) => one.topic === topic.topic)) return;
      crashed = true;
      throw kafkajsError('KafkaJSNotImplemented');
    });
    await topic.untilEvent('crashed');
    await topic.produce(0, 10);
    await topic.untilCommitted(10);
    expect(handler.done).toEqual(numbers(0, 10));
    expect(supervisor.status()).toMatchObject({ state: 'running', restarts: 1, lastErrorCode: 'not-implemented' });
    expect(await topic.members()).toBe(1);
  });

  it('O, N: waits for a topic that is not there, without creating it, and reads it once it is', async () => {
    await using topic = await TopicUnderTest.create(brokers, 0);
    const handler = new RecordingHandler();
    const { client, consumerConfigs } = spied(topic.client);
    const supervisor = topic.supervisor(handler.handle, { client });
    supervisor.start();
    await topic.untilEvent('restarting');
    expect(supervisor.status().lastErrorCode).toBe('unknown-topic-or-partition');
    expect(consumerConfigs[0]).toMatchObject({ allowAutoTopicCreation: false });
    expect(await topic.topics()).not.toContain(topic.topic);
    await topic.createTopic(1);
    await topic.produce(0, 5);
    await topic.untilCommitted(5);
    expect(handler.done).toEqual(numbers(0, 5));
  });

  it('M: is built anew when it lags and fetches nothing, and says so', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler();
    const { client, consumers } = spied(topic.client);
    const options = { watchdogIntervalMs: 50, stallAfterMs: 300 };
    const supervisor = topic.supervisor(handler.handle, { client, options });
    supervisor.start();
    await topic.untilEvent('joined');
    // Behind the back of our code: assigned, heartbeating, and never fetching again.
    consumers[0]?.pause([{ topic: topic.topic }]);
    await topic.produce(0, 10);
    await topic.untilCommitted(10);
    expect(await topic.untilEvent('consumer-stalled')).toMatchObject({ partition: 0 });
    expect(handler.done).toEqual(numbers(0, 10));
    expect(supervisor.status()).toMatchObject({ restarts: 1, lastErrorCode: 'consumer-stalled' });
  });

  it('M: is left alone while it waits on purpose, and while there is nothing to read', async () => {
    await using topic = await TopicUnderTest.create(brokers, 2);
    const handler = new RecordingHandler(() => ({ kind: 'wait', reason: 'test', retryAfterMs: 600_000 }));
    const supervisor = topic.supervisor(handler.handle, { options: { watchdogIntervalMs: 20, stallAfterMs: 100 } });
    await topic.produce(0, 10, 0);
    supervisor.start();
    await topic.untilEvent('partition-waiting');
    // Each lag below was asked for after the one before: several looks have gone by, later than the stall would be.
    for (let produced = 10; produced < 60; produced += 10) {
      await topic.produce(produced, produced + 10, 0);
      await until(
        () => supervisor.status().partitions[0]?.highWatermark === String(produced + 10),
        'a look at the lag',
      );
    }
    expect(supervisor.status()).toMatchObject({ state: 'running', restarts: 0 });
  });

  it('B: lives on when its listener throws', async () => {
    await using topic = await TopicUnderTest.create(brokers);
    const handler = new RecordingHandler((_, call) =>
      call === 1 ? { kind: 'wait', reason: 'test', retryAfterMs: 10 } : DONE,
    );
    const supervisor = topic.supervisor(handler.handle, { onEvent: throws });
    await topic.produce(0, 5);
    supervisor.start();
    await topic.untilCommitted(5);
    expect(handler.chunks).toHaveLength(2);
    expect(supervisor.status().restarts).toBe(0);
  });

  it('E: stopped between two lives, it stays stopped', async () => {
    await using topic = await TopicUnderTest.create(brokers, 0);
    const handler = new RecordingHandler();
    const supervisor = topic.supervisor(handler.handle, { options: { restartMinMs: 600_000, restartMaxMs: 600_000 } });
    supervisor.start();
    await topic.untilEvent('restarting');
    expect(supervisor.status().state).toBe('restarting');
    await supervisor.stop({ timeoutMs: 1000 });
    expect(supervisor.status().state).toBe('stopped');
    expect(await topic.members()).toBe(0);
  });
});

function throws(): never {
  throw new TypeError('a bug in a counter');
}
