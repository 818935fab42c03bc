import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KafkaProducer, type RecordToPublish } from '../../../src/messaging/kafka/kafka-producer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { type KafkaHandle, startKafka } from '../../support/stack/stack.ts';
import { DONE, RecordingHandler, numbers } from './recording-handler.ts';
import { TopicUnderTest, until } from './topic-under-test.ts';

describe('a broker that goes away', () => {
  let broker: KafkaHandle;

  beforeAll(async () => {
    broker = await startKafka();
  });

  afterAll(async () => {
    await broker.stop();
  });

  it('killed under load: nothing is lost, order per key stays, the consumer comes back by itself', async () => {
    await using topic = await TopicUnderTest.create(broker.brokers, 2);
    const handler = new RecordingHandler();
    const supervisor = topic.supervisor(handler.handle, { chunkSize: 20 });
    supervisor.start();
    const producer = new KafkaProducer({ kafka: topic.client, logger: silentLogger, timeoutMs: 3000 });
    let killed: Promise<void> | undefined;
    const failures: string[] = [];
    for (let from = 0; from < 2000; from += 50) {
      if (from === 1000) killed = broker.kill();
      const batch = numbers(from, from + 50).map((value) => record(topic.topic, value));
      while (true) {
        const outcome = await producer.publish(batch);
        if (outcome.kind === 'acknowledged') break;
        failures.push(outcome.kind);
        await killed;
        killed = undefined;
        if (failures.length === 1) await broker.restart();
      }
    }
    await until(() => new Set(handler.done).size === 2000, 'every record');
    // First occurrences in order: what came twice came after it had come once.
    expect([...new Set(handler.done)]).toEqual(numbers(0, 2000));
    expect(new Set(failures)).toEqual(new Set(['unavailable']));
    await until(() => supervisor.status().state === 'running', 'the consumer running');
    await producer.close({ timeoutMs: 3000 });
  });

  it('N: what follows a publish of unknown result is stored, not taken for its repetition', async () => {
    await using topic = await TopicUnderTest.create(broker.brokers);
    const handler = new RecordingHandler();
    const settings = { kafka: topic.client, logger: silentLogger, requestTimeoutMs: 300, timeoutMs: 8000 };
    const producer = new KafkaProducer(settings);
    await producer.publish([record(topic.topic, 'before')]);
    process.kill(broker.pid, 'SIGSTOP');
    const outcome = await producer.publish([record(topic.topic, 'unknown')]);
    process.kill(broker.pid, 'SIGCONT');
    expect(outcome).toMatchObject({ kind: 'unavailable', retryable: true, acknowledged: 0 });
    await until(async () => (await topic.admin.fetchLag(topic.groupId, topic.topic))[0]?.lag === 2, 'the late record');
    expect(await publishUntilStored(producer, record(topic.topic, 'after'))).toBe('acknowledged');
    expect(producer.status().rebuilds).toBeGreaterThan(0);
    await topic.consumer(handler.handle).start();
    await until(() => handler.done.includes('after'), 'the record after');
    await producer.close({ timeoutMs: 3000 });
  });

  it('E: a stop during the outage is over in time, and no handler is called when the broker is back', async () => {
    await using topic = await TopicUnderTest.create(broker.brokers);
    const handler = new RecordingHandler(() => DONE);
    const supervisor = topic.supervisor(handler.handle);
    supervisor.start();
    await topic.untilEvent('joined');
    await broker.kill();
    await topic.untilEvent('crashed');
    await supervisor.stop({ timeoutMs: 1000 });
    await broker.restart();
    await topic.produce(0, 5);
    const other = new RecordingHandler();
    await topic.consumer(other.handle).start();
    await topic.untilCommitted(5);
    expect(handler.chunks).toEqual([]);
    expect(other.done).toEqual(numbers(0, 5));
  });
});

function record(topic: string, value: string): RecordToPublish {
  return { topic, key: 'key', value: Buffer.from(value), headers: {} };
}

async function publishUntilStored(producer: KafkaProducer, one: RecordToPublish): Promise<string> {
  return await until(async () => {
    const { kind } = await producer.publish([one]);
    return kind === 'acknowledged' ? kind : null;
  }, 'a publish that is acknowledged');
}
