import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChildRecord } from '../support/stack/child-records.ts';
import { projectRoot } from '../support/stack/folders.ts';
import { kafkaDistribution } from '../support/stack/kafka-distribution.ts';
import { isAlive } from '../support/stack/process-identity.ts';
import { cleanOrphans } from '../support/stack/stack.ts';

let cache = '';

beforeEach(async () => {
  cache = mkdtempSync(join(tmpdir(), 'einmal-orphans-'));
  const jars = dirname((await kafkaDistribution()).classPath);
  mkdirSync(join(cache, 'einmal'));
  // Records of one's own, but not one more fetch of Kafka.
  symlinkSync(jars, join(cache, 'einmal', 'kafka-4.3.1'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('DATABASE_URL', undefined);
  vi.stubEnv('KAFKA_BROKERS', undefined);
}, 300_000);
afterEach(async () => {
  await cleanOrphans(() => {});
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

/** `npm run stack -- --throwaway` once it has printed both addresses. */
async function runningStack(): Promise<{ signal: (name: NodeJS.Signals) => Promise<number | null> }> {
  const main = join(projectRoot, 'test/support/stack/main.ts');
  const child = spawn(process.execPath, [main, '--throwaway'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      if (/^export DATABASE_URL='.+'\nexport KAFKA_BROKERS='.+'\n$/.test(output)) resolve();
    });
  });
  await Promise.race([ready, exit.then((code) => Promise.reject(new Error(`ended with ${code}`)))]);
  return {
    signal: async (name) => {
      child.kill(name);
      return await exit;
    },
  };
}

function records(): ChildRecord[] {
  const folder = join(cache, 'einmal', 'servers');
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ChildRecord);
}

describe('npm run stack', () => {
  it('leaves nothing when it is asked to stop', { timeout: 120_000 }, async () => {
    const stack = await runningStack();
    const [children, folders] = leftBy(records());
    expect([children.length, folders.length]).toEqual([2, 2]);
    expect(await stack.signal('SIGTERM')).toBe(0);
    expect([children.filter(isAlive), folders.filter((folder) => existsSync(folder)), records()]).toEqual([[], [], []]);
  });

  it('that was killed is cleaned up by the next start', { timeout: 120_000 }, async () => {
    const stack = await runningStack();
    const [children, folders] = leftBy(records());
    await stack.signal('SIGKILL');
    expect(children.filter(isAlive)).toHaveLength(2);
    const said: string[] = [];
    await cleanOrphans((line) => said.push(line));
    expect([children.filter(isAlive), folders.filter((folder) => existsSync(folder)), records()]).toEqual([[], [], []]);
    expect(said).toHaveLength(2);
  });
});

function leftBy(left: ChildRecord[]): [Array<NonNullable<ChildRecord['child']>>, string[]] {
  return [left.flatMap((record) => record.child ?? []), left.flatMap((record) => record.throwawayFolder ?? [])];
}
