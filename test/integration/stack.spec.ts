import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { identityOf } from '../support/stack/process-identity.ts';
import { startStack, type Stack, type StackOptions } from '../support/stack/stack.ts';

let folder = '';
let started: Stack[] = [];
let blockers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'einmal-stack-spec-'));
  chmodSync(folder, 0o755);
  vi.stubEnv('DATABASE_URL', undefined);
  vi.stubEnv('KAFKA_BROKERS', undefined);
});
afterEach(async () => {
  for (const blocker of blockers) await new Promise((resolve) => blocker.close(resolve));
  for (const stack of started) await stack.stop();
  [started, blockers] = [[], []];
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: StackOptions): Promise<Stack> {
  const stack = await startStack(options);
  started.push(stack);
  return stack;
}

async function query(url: string, sql: string): Promise<Array<Record<string, unknown>>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function topics(brokers: string, create?: string): Promise<string[]> {
  const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    if (create !== undefined) await admin.createTopics({ topics: [{ topic: create }] });
    return await admin.listTopics();
  } finally {
    await admin.disconnect();
  }
}

async function block(port: number): Promise<void> {
  const blocker = createServer();
  blockers.push(blocker);
  await new Promise<void>((resolve) => blocker.listen(port, '127.0.0.1', resolve));
}

describe('a throwaway stack', () => {
  it('answers at once, is durable, and leaves nothing when it stops', { timeout: 120_000 }, async () => {
    const stack = await start({ mode: 'throwaway' });
    const [row] = await query(
      stack.databaseUrl,
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commits,
              current_setting('max_connections') AS connections, current_setting('listen_addresses') AS listens,
              lower('Ä') AS lowered, current_setting('data_directory') AS folder`,
    );
    expect(row).toMatchObject({ fsync: 'on', commits: 'on', connections: '200', listens: '127.0.0.1', lowered: 'ä' });
    expect(await topics(stack.kafkaBrokers, 'one')).toContain('one');
    const pids = [stack.postgres?.pid ?? 0, stack.kafka?.pid ?? 0];
    expect(pids.map((pid) => identityOf(pid)?.pid)).toEqual(pids);
    await stack.stop();
    expect(pids.map((pid) => identityOf(pid))).toEqual([null, null]);
    expect(existsSync(String(row?.['folder']))).toBe(false);
  });

  it('starts only what the environment does not name', { timeout: 60_000 }, async () => {
    vi.stubEnv('DATABASE_URL', 'postgresql://somewhere/else');
    vi.stubEnv('KAFKA_BROKERS', 'somewhere:9092');
    const nothing = await start({ mode: 'throwaway' });
    expect(nothing).toMatchObject({ databaseUrl: 'postgresql://somewhere/else', kafkaBrokers: 'somewhere:9092' });
    expect([nothing.postgres, nothing.kafka]).toEqual([undefined, undefined]);
    vi.stubEnv('DATABASE_URL', undefined);
    const one = await start({ mode: 'throwaway' });
    expect(one.kafkaBrokers).toBe('somewhere:9092');
    expect(await query(one.databaseUrl, 'SELECT current_database() AS name')).toEqual([{ name: 'einmal' }]);
  });

  it('starts nothing when the broker cannot be had', async () => {
    vi.stubEnv('PATH', '');
    vi.stubEnv('JAVA_HOME', undefined);
    vi.stubEnv('KAFKA_HOME', undefined);
    vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
    vi.stubEnv('TMPDIR', join(folder, 'tmp'));
    mkdirSync(join(folder, 'tmp'));
    await expect(startStack({ mode: 'throwaway' })).rejects.toThrow('KAFKA_BROKERS');
    expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
    expect(existsSync(join(folder, 'cache', 'einmal', 'servers'))).toBe(false);
  });
});

describe('a persistent stack', () => {
  it('keeps data and ports, and moves when its ports are taken', { timeout: 180_000 }, async () => {
    const options: StackOptions = { mode: 'persistent', dataDirectory: folder };
    const first = await start(options);
    await query(first.databaseUrl, 'CREATE TABLE kept AS SELECT 1 AS one');
    await topics(first.kafkaBrokers, 'kept');
    await first.stop();
    const second = await start(options);
    expect([second.databaseUrl, second.kafkaBrokers]).toEqual([first.databaseUrl, first.kafkaBrokers]);
    await second.stop();
    await block(Number(new URL(first.databaseUrl).port));
    await block(Number(first.kafkaBrokers.split(':')[1]));
    const third = await start(options);
    expect(third.databaseUrl).not.toBe(first.databaseUrl);
    expect(third.kafkaBrokers).not.toBe(first.kafkaBrokers);
    expect(await query(third.databaseUrl, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    expect(await topics(third.kafkaBrokers)).toContain('kept');
  });

  it('is used by whoever asks for the same folder meanwhile', { timeout: 120_000 }, async () => {
    const options: StackOptions = { mode: 'persistent', dataDirectory: folder, kafka: false };
    const both = await Promise.all([start(options), start(options)]);
    expect(new Set(both.map((stack) => stack.databaseUrl)).size).toBe(1);
    expect(both.filter((stack) => stack.postgres !== undefined)).toHaveLength(1);
    await Promise.all(both.map(async (stack) => await stack.stop()));
    expect(existsSync(join(folder, 'postgres', 'owner.json'))).toBe(false);
  });
});

describe('a test database', () => {
  it('is new, may be a copy, and goes with its connections', { timeout: 60_000 }, async () => {
    const { databaseUrl } = await start({ mode: 'throwaway', kafka: false });
    const model = await createDatabase(databaseUrl);
    await query(model.url, 'CREATE TABLE copied AS SELECT 1 AS one');
    const copy = await createDatabase(databaseUrl, { template: new URL(model.url).pathname.slice(1) });
    const kept = await createDatabase(databaseUrl, { keep: true });
    const connected = new Client({ connectionString: copy.url });
    const ended = new Promise((resolve) => connected.on('error', resolve));
    await connected.connect();
    expect((await connected.query('SELECT one FROM copied')).rows).toEqual([{ one: 1 }]);
    for (const database of [model, copy, kept, copy]) await database.drop();
    await ended;
    const left = await query(databaseUrl, `SELECT datname AS name FROM pg_database WHERE datname LIKE 'einmal_test_%'`);
    expect(left).toEqual([{ name: new URL(kept.url).pathname.slice(1) }]);
  });
});
