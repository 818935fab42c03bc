import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cleanOrphans, keepRecord, newThrowaway, removeThrowaway, type ChildRecord } from './child-records.ts';
import { pollUntil } from './poll-until.ts';
import { identityOf, isAlive, thisMachine } from './process-identity.ts';

let cache = '';
let child: ChildProcess;
const nobody = { pid: 2 ** 22 - 3, startedAt: 'never' };
const silent = (): void => {};

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'einmal-records-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
  child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
});
afterEach(() => {
  child.kill('SIGKILL');
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

function childIdentity(): { pid: number; startedAt: string } {
  const identity = identityOf(child.pid ?? 0);
  if (identity === null) throw new Error('the child does not run');
  return identity;
}

function writeRecord(record: Partial<ChildRecord>): string {
  const folder = join(cache, 'einmal', 'servers');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'one.json');
  const whole: ChildRecord = {
    kind: 'postgres',
    machine: thisMachine(),
    parent: nobody,
    child: null,
    signal: 'SIGTERM',
    throwawayFolder: null,
    ...record,
  };
  writeFileSync(file, JSON.stringify(whole));
  return file;
}

describe('the next start', () => {
  it('ends a recorded process whose starter is dead', async () => {
    const identity = childIdentity();
    const file = writeRecord({ child: identity });
    await cleanOrphans(silent);
    expect(await pollUntil(() => (isAlive(identity) ? null : 'gone'), { deadlineMs: 5000 })).toBe('gone');
    expect(existsSync(file)).toBe(false);
  });

  it('leaves a process alone that has a recorded number and another start', async () => {
    const file = writeRecord({ child: { ...childIdentity(), startedAt: '1' } });
    await cleanOrphans(silent);
    expect(isAlive(childIdentity())).toBe(true);
    expect(existsSync(file)).toBe(false);
  });

  it('leaves the servers of a living process alone', async () => {
    const record = keepRecord({ kind: 'kafka', signal: 'SIGKILL', throwawayFolder: null });
    record.setChild(childIdentity());
    await cleanOrphans(silent);
    expect(isAlive(childIdentity())).toBe(true);
    expect(readdirSync(join(cache, 'einmal', 'servers'))).toHaveLength(1);
    record.remove();
  });

  it('takes a starter for dead whose number was given to another process', async () => {
    const identity = childIdentity();
    writeRecord({ parent: { pid: process.pid, startedAt: '1' }, child: identity });
    await cleanOrphans(silent);
    expect(await pollUntil(() => (isAlive(identity) ? null : 'gone'), { deadlineMs: 5000 })).toBe('gone');
  });

  it('touches nothing of another host', async () => {
    const file = writeRecord({ machine: { ...thisMachine(), host: 'another' }, child: childIdentity() });
    await cleanOrphans(silent);
    expect(isAlive(childIdentity())).toBe(true);
    expect(existsSync(file)).toBe(true);
  });

  it('signals nothing after a reboot, and removes what was left', async () => {
    const folder = newThrowaway('test');
    const file = writeRecord({
      machine: { ...thisMachine(), boot: 'earlier' },
      child: childIdentity(),
      throwawayFolder: folder,
    });
    await cleanOrphans(silent);
    expect(isAlive(childIdentity())).toBe(true);
    expect([existsSync(file), existsSync(folder)]).toEqual([false, false]);
  });
});

describe('a throwaway folder', () => {
  it('is removed, another folder is not', () => {
    const folder = newThrowaway('test');
    removeThrowaway(folder);
    removeThrowaway(cache);
    expect([existsSync(folder), existsSync(cache)]).toEqual([false, true]);
  });
});
