import type { Consumer } from 'kafkajs';
import { describe, expect, inject, it } from 'vitest';
import type { KafkaClient } from '../../../src/messaging/kafka/kafka-client.ts';
import { answerInBrokersPlace, kafkajsError } from './broker-answers.ts';
import { RecordingHandler, numbers } from './recording-handler.ts';
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
    const { client, configs } = spied(topic.client);
    const supervisor = topic.supervisor(handler.handle, { client });
    supervisor.start();
    await topic.untilEvent('restarting');
    expect(supervisor.status().lastErrorCode).toBe('unknown-topic-or-partition');
    expect(configs[0]).toMatchObject({ allowAutoTopicCreation: false });
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

/** The same client, with every kafkajs consumer that it makes and the options it was made with. */
function spied(inner: KafkaClient): { client: KafkaClient; consumers: Consumer[]; configs: unknown[] } {
  const consumers: Consumer[] = [];
  const configs: unknown[] = [];
  const client: KafkaClient = {
    open: (options) => {
      const link = inner.open(options);
      const create = link.kafka.consumer.bind(link.kafka);
      link.kafka.consumer = (config) => {
        configs.push(config);
        const consumer = create(config);
        consumers.push(consumer);
        return consumer;
      };
      return link;
    },
  };
  return { client, consumers, configs };
}
