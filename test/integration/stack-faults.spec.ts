import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { identityOf } from '../support/stack/process-identity.ts';
import { startKafka, startPostgres, type ServerHandle } from '../support/stack/stack.ts';

let started: ServerHandle[] = [];

afterEach(async () => {
  for (const server of started) await server.stop();
  started = [];
});

async function kept<Handle extends ServerHandle>(server: Promise<Handle>): Promise<Handle> {
  const handle = await server;
  started.push(handle);
  return handle;
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

describe('PostgreSQL', () => {
  it('comes back after SIGKILL at the same address with what was committed', { timeout: 90_000 }, async () => {
    const server = await kept(startPostgres({ settings: { max_connections: '20' } }));
    const before = await connect(server.url);
    await before.query('CREATE TABLE one (n int)');
    await before.query('INSERT INTO one VALUES (1)');
    await before.query('BEGIN');
    await before.query('INSERT INTO one VALUES (2)');
    const { pid } = server;
    await server.kill();
    expect(identityOf(pid)).toBeNull();
    await expect(connect(server.url)).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    const after = await connect(server.url);
    expect((await after.query('SELECT n FROM one')).rows).toEqual([{ n: 1 }]);
    expect((await after.query('SHOW max_connections')).rows).toEqual([{ max_connections: '20' }]);
    await after.end();
  });

  it(
    'can be ended in order and started again, and tells of an end that nobody asked for',
    { timeout: 90_000 },
    async () => {
      const server = await kept(startPostgres());
      await server.halt();
      await server.restart();
      const client = await connect(server.url);
      await client.end();
      process.kill(server.pid, 'SIGKILL');
      expect(await server.unexpectedEnd).toContain('postgres ended by itself');
    },
  );
});

describe('Kafka', () => {
  it('comes back after SIGKILL at the same address with what was acknowledged', { timeout: 120_000 }, async () => {
    const broker = await kept(startKafka());
    const kafka = new Kafka({ brokers: [broker.brokers], logLevel: logLevel.NOTHING });
    const [admin, producer] = [kafka.admin(), kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })];
    await Promise.all([admin.connect(), producer.connect()]);
    await admin.createTopics({ topics: [{ topic: 'one' }] });
    await producer.send({ topic: 'one', acks: -1, messages: [{ value: 'kept' }] });
    await broker.kill();
    await broker.restart();
    const offsets = await admin.fetchTopicOffsets('one');
    expect(offsets.map(({ high }) => high)).toEqual(['1']);
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });
});
