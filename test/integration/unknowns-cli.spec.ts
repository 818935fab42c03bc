import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { projectRoot } from '../support/stack/folders.ts';
import { auditRows, createGround, makeUnknown, type UnknownsGround } from './unknowns-ground.ts';

const EINMAL = join(projectRoot, 'dist', 'src', 'cli', 'einmal.js');

let ground: UnknownsGround;

beforeAll(async () => {
  ground = await createGround(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await ground.rig.reset());

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command as people run it. */
async function einmal(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const place = { EINMAL_URL: ground.service.url, EINMAL_TOKEN: 'operator' };
  const child = spawn(process.execPath, [EINMAL, 'unknowns', ...args], { env: { ...place, ...env } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

describe('einmal unknowns list', () => {
  it('says when there is nothing', async () => {
    expect(await einmal(['list'])).toEqual({ code: 0, out: 'nothing is unknown\n', err: '' });
  });

  it('shows a table with what people need to decide', async () => {
    await makeUnknown(ground.rig, ['order-17', 'b']);
    await ground.rig.query(
      `UPDATE operations SET unknown_since = now() - interval '90061 seconds' WHERE operation_key = 'order-17'`,
    );
    const { code, out } = await einmal(['list']);
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^KEY +CLAIM +PROVIDER +AGE +TRIES +CODE +NEEDS PERSON +STILL POSSIBLE$/);
    expect(lines[1]).toMatch(/^order-17 +1 +main +1d 1h +1 +timeout +no +nothing$/);
    expect(lines[2]).toMatch(/^b +1 +main +\d+s +1 +timeout +no +receipt-pending$/);
    expect(new Set(lines.map((line) => line.search(/CLAIM|(?<= )1 /))).size).toBe(1);
  });

  it('goes on over pages until its limit, and says that there are more', async () => {
    await ground.rig.request(Array.from({ length: 205 }, (_, index) => `n${index}`));
    await ground.rig.query(`UPDATE operations SET state = 'unknown', unknown_since = now(), claim_seq = 2`);
    const all = await einmal(['list', '--limit', '300', '--json']);
    const keys = all.out
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { operationKey: string }).operationKey);
    expect(new Set(keys).size).toBe(205);
    const some = await einmal(['list', '--limit', '3']);
    expect(some.out.trimEnd().split('\n')).toHaveLength(5);
    expect(some.out).toContain('there are more');
  });

  it('shows what is asked for', async () => {
    await makeUnknown(ground.rig, ['a']);
    expect((await einmal(['list', '--provider', 'peer'])).out).toBe('nothing is unknown\n');
    expect((await einmal(['list', '--campaign', 'c'])).out).toBe('nothing is unknown\n');
    expect((await einmal(['list', '--provider', 'main'])).out).toContain('receipt-pending');
  });

  it('lets no key command the terminal', async () => {
    await makeUnknown(ground.rig, ['a']);
    await ground.rig.query(`UPDATE operations SET operation_key = E'x\\u001b[2J\\ny\\u202e'`);
    const { out } = await einmal(['list']);
    expect(out).toContain('x\\u001b[2J\\u000ay\\u202e');
    expect(out.trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('einmal unknowns resolve', () => {
  it('reads the present claim number and decides', async () => {
    const { rig } = ground;
    await makeUnknown(rig, ['a', 'b', 'c']);
    const ran = await einmal(['resolve', '--as', 'not-sent', '--reason', 'no trace of it', 'a', 'b']);
    expect(ran).toEqual({ code: 0, out: 'a: resolved, it is queued\nb: resolved, it is queued\n', err: '' });
    expect(await rig.states()).toEqual({ queued: 2, unknown: 1 });
    expect(await auditRows(rig)).toMatchObject([{ reason: 'no trace of it' }, { reason: 'no trace of it' }]);
  });

  it('decides only what was seen when the claim number is given', async () => {
    await makeUnknown(ground.rig, ['a', 'b']);
    const ran = await einmal(['resolve', '--as', 'sent', '--reason', 'x', 'a@0', 'b@1', 'nobody', 'nobody@5']);
    expect(ran.code).toBe(1);
    expect(ran.out).toBe('b: resolved, it is accepted\n');
    expect(ran.err).toBe('nobody: no operation with this key\na: outdated, it is unknown\nnobody: not-found\n');
    expect(await ground.rig.states()).toEqual({ accepted: 1, unknown: 1 });
  });

  it('waits', async () => {
    await makeUnknown(ground.rig, ['a']);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const ran = await einmal(['resolve', '--as', 'wait', '--reason', 'later', '--until', until, 'a']);
    expect(ran).toMatchObject({ code: 0, out: 'a: resolved, it is unknown\n' });
  });

  it('leaves alone what is known', async () => {
    await makeUnknown(ground.rig, ['a']);
    await einmal(['resolve', '--as', 'sent', '--reason', 'x', 'a']);
    const ran = await einmal(['resolve', '--as', 'not-sent', '--reason', 'x', 'a']);
    expect(ran).toEqual({ code: 1, out: '', err: 'a: its outcome is not unknown, it is accepted\n' });
  });

  it('tells why the service refused', async () => {
    await makeUnknown(ground.rig, ['a']);
    const far = ['resolve', '--as', 'wait', '--reason', 'x', '--until', '2999-01-01T00:00:00Z', 'a'];
    expect(await einmal(far)).toMatchObject({ code: 1, err: expect.stringContaining('at most 30 days ahead') });
    const reader = await einmal(['resolve', '--as', 'sent', '--reason', 'x', 'a@1'], { EINMAL_TOKEN: 'reader' });
    expect(reader).toMatchObject({ code: 1, err: expect.stringContaining('lacks the scope operate') });
  });
});

describe('called in a wrong way', () => {
  it.each([['list'], ['resolve']])('%s explains itself', async (command) => {
    const { code, out } = await einmal([command, '--help'], { EINMAL_TOKEN: '' });
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: einmal unknowns ${command} `));
    expect(out).toContain('EINMAL_TOKEN');
  });

  it.each([
    [['list', '--limit', '0'], '--limit must be 1 to 10000'],
    [['list', '--limit', 'x'], '--limit must be 1 to 10000'],
    [['list', '--unknown'], "Unknown option '--unknown'"],
    [['list', 'a'], 'Unexpected argument'],
    [['resolve', 'a'], '--as must be'],
    [['resolve', '--as', 'lost', '--reason', 'x', 'a'], '--as must be'],
    [['resolve', '--as', 'sent', 'a'], '--reason is required'],
    [['resolve', '--as', 'sent', '--reason', 'x'], 'name at least one'],
    [['resolve', '--as', 'wait', '--reason', 'x', 'a'], '--until belongs to'],
    [['resolve', '--as', 'sent', '--reason', 'x', '--until', 'y', 'a'], '--until belongs to'],
  ])('%j ends with 2', async (args, says) => {
    const { code, out, err } = await einmal(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(says);
    expect(err).toContain('Usage:');
  });

  it.each([
    [{ EINMAL_TOKEN: '' }, 2, 'EINMAL_TOKEN is required'],
    [{ EINMAL_TOKEN: 'two words' }, 2, 'EINMAL_TOKEN must be'],
    [{ EINMAL_URL: 'ftp://x' }, 2, 'EINMAL_URL must be'],
    [{ EINMAL_URL: 'http://127.0.0.1:9' }, 1, 'no answer from http://127.0.0.1:9'],
    [{ EINMAL_TOKEN: 'nobodys' }, 1, 'a bearer token of a tenant is needed'],
  ])('with %j', async (env, code, says) => {
    const ran = await einmal(['list'], env);
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toContain(says);
    expect(ran.err).not.toMatch(/two words|nobodys/);
  });

  it('carries the token to nobody else', async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.writeHead(302, { location: `${ground.service.url}/v1/unknowns` }).end();
    });
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const { port } = elsewhere.address() as AddressInfo;
    const ran = await einmal(['list'], { EINMAL_URL: `http://127.0.0.1:${port}` });
    elsewhere.close();
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(asked).toEqual(['Bearer operator']);
  });
});
