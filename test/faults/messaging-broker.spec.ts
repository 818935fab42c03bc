import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { KafkaAdmin } from '../../src/messaging/kafka/kafka-admin.ts';
import { createKafkaClient, type KafkaClient } from '../../src/messaging/kafka/kafka-client.ts';
import { KafkaProducer } from '../../src/messaging/kafka/kafka-producer.ts';
import type { RelayPipeline } from '../../src/messaging/outbox/relay.pipeline.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { onReach } from '../../src/runtime/signal.ts';
import { openMessagingRig, type MessagingRig } from '../support/messaging-rig.ts';
import { readTopic } from '../support/read-topic.ts';
import { append, drain, entryOf, relayOf, resetOutbox } from '../support/relay-rig.ts';
import { startKafka, type KafkaHandle } from '../support/stack/stack.ts';

let rig: MessagingRig;
let broker: KafkaHandle;
let client: KafkaClient;
let producer: KafkaProducer;
let topic: string;

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
  broker = await startKafka();
  client = createKafkaClient({ brokers: [broker.brokers], clientId: 'relay-test', logger: silentLogger });
});
beforeEach(async () => {
  topic = `relay.${randomUUID()}`;
  const admin = new KafkaAdmin({ kafka: client });
  await admin.ensureTopics([{ topic, partitions: 3, replicationFactor: 1, config: { 'max.message.bytes': '100000' } }]);
  await admin.close({ timeoutMs: 2000 });
  producer = new KafkaProducer({ kafka: client, logger: silentLogger });
  await resetOutbox(rig.dataSource);
});
afterAll(async () => {
  await rig.close();
  await broker.stop();
});

const sweep = async (relay: RelayPipeline) => await relay.runOnce(new AbortController().signal);
const waiting = async () => (await rig.query('SELECT FROM outbox')).length;
const messages = (count: number) =>
  Array.from({ length: count }, (_, index) => entryOf(`m${index}`, `key-${index % 20}`, { topic }));

/** Ids by key, in the order of the partitions, each as often as it is there. */
async function published(count: number): Promise<Map<string, string[]>> {
  const byKey = new Map<string, string[]>();
  for (const record of await readTopic(broker.brokers, topic, count)) {
    const key = String(record.key);
    byKey.set(key, [...(byKey.get(key) ?? []), record.one('ce_id')]);
  }
  return byKey;
}

describe('a relay and a real broker', () => {
  it('killed between two batches and back again: order per key, the same ids, nothing lost, nothing burnt', async () => {
    await append(rig.dataSource, messages(2_000));
    const relay = relayOf(rig.dataSource, producer, { batchSize: 100, produceTimeoutMs: 1_000 });
    let batches = 0;
    const stop = onReach('relay.before-publish', async () => {
      if (++batches === 8) await broker.kill();
    });
    await expect(sweep(relay)).rejects.toMatchObject({ code: 'broker-away' });
    stop();
    for (let round = 0; round < 2; round++) await expect(sweep(relay)).rejects.toMatchObject({ code: 'broker-away' });
    // Seven batches were acknowledged; the rest is as it was, and another writer is not disturbed.
    expect(await waiting()).toBe(1_300);
    await append(rig.dataSource, [entryOf('last', 'key-0', { topic })]);
    await broker.restart();
    await drain(relay);
    expect(await waiting()).toBe(0);
    const byKey = await published(2_001);
    for (let key = 0; key < 20; key++) {
      const written = messages(2_000)
        .filter((entry) => String(entry.key) === `key-${key}`)
        .map((entry) => String(entry.value));
      expect([...new Set(byKey.get(`key-${key}`))]).toEqual(key === 0 ? [...written, 'last'] : written);
    }
  });

  it('that does not answer: the relay gives up inside its lease, and sends nothing of that batch afterwards', async () => {
    await append(rig.dataSource, messages(10));
    const relay = relayOf(rig.dataSource, producer, { produceTimeoutMs: 500 });
    await drain(relay);
    await append(rig.dataSource, [entryOf('stalled', 'k', { topic })]);
    process.kill(broker.pid, 'SIGSTOP');
    await expect(sweep(relay)).rejects.toMatchObject({ message: expect.stringContaining('publish-timeout') as string });
    process.kill(broker.pid, 'SIGCONT');
    expect(await waiting()).toBe(1);
    await drain(relayOf(rig.dataSource, producer));
    await relay.release();
    await drain(relayOf(rig.dataSource, producer));
    expect((await published(11)).get('k')?.at(-1)).toBe('stalled');
  });

  it('whose topic takes less than we thought: the one is parked, the others arrive in order', async () => {
    const tooLarge = entryOf('large', 'k', { topic, value: Buffer.alloc(200_000, 'x') });
    await append(rig.dataSource, [entryOf('a', 'k', { topic }), tooLarge, entryOf('b', 'k', { topic })]);
    await drain(relayOf(rig.dataSource, producer));
    expect((await published(2)).get('k')).toEqual(['a', 'b']);
    expect(await rig.deadLetters()).toMatchObject([
      { reason: 'refused-by-broker', detail: 'the broker refused it: message-too-large' },
    ]);
  });
});
