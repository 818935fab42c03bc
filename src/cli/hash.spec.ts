import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operationId, OPERATION_NAMESPACE } from '../operations/operation-id.ts';
import { campaignContentHash, HASH_VERSION, payloadHash } from '../operations/payload-hash.ts';
import { runCommand } from './commands.ts';

const hashed = z.array(z.object({ name: z.string(), data: z.string(), canonical: z.string(), hash: z.string() }));
const vectors = z
  .object({
    hashVersion: z.number(),
    namespace: z.string(),
    operations: hashed,
    campaigns: hashed,
    operationIds: z.array(z.object({ tenant: z.string(), operationKey: z.string(), operationId: z.string() })),
    refused: z.array(z.object({ name: z.string(), data: z.string(), reason: z.enum(['unparseable', 'wrong-schema']) })),
  })
  .parse(JSON.parse(readDoc('payload-hash.vectors.json')));

const folder = mkdtempSync(join(tmpdir(), 'einmal-hash-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;

/** `einmal hash` with the data in a file. */
async function hash(data: string, ...options: readonly string[]) {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, data);
  return await run(file, ...options);
}

async function run(...args: readonly string[]) {
  let out = '';
  let err = '';
  const code = await runCommand(['hash', ...args], {
    env: {},
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code, out, err };
}

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
const printed = (out: string) => ({ code: 0, out, err: '' });
const request = (operationKey: string): string =>
  JSON.stringify({ operationKey, kind: 'http', request: { endpoint: 'tickets', method: 'POST', path: '/' } });

const withBody = (text: string): string => request('order-17').replace('"path":"/"', `"path":"/","body":${text}`);

describe('docs/payload-hash.vectors.json', () => {
  it('is of the version and the namespace of this code, and large enough', () => {
    expect(vectors).toMatchObject({ hashVersion: HASH_VERSION, namespace: OPERATION_NAMESPACE });
    expect(vectors.operations.length + vectors.campaigns.length).toBeGreaterThan(25);
  });

  it.each(vectors.operations)('operation: $name', async ({ data, canonical, hash: expected }) => {
    expect(payloadHash(JSON.parse(data) as Parameters<typeof payloadHash>[0])).toBe(expected);
    expect(sha256(canonical)).toBe(expected);
    expect(await hash(data)).toEqual(printed(`${expected}\n`));
    expect(await hash(data, '--canonical')).toEqual(printed(canonical));
  });

  it.each(vectors.campaigns)('campaign: $name', async ({ data, canonical, hash: expected }) => {
    expect(campaignContentHash(JSON.parse(data) as Parameters<typeof campaignContentHash>[0])).toBe(expected);
    expect(sha256(canonical)).toBe(expected);
    expect(await hash(data, '--campaign')).toEqual(printed(`${expected}\n`));
    expect(await hash(data, '--campaign', '--canonical')).toEqual(printed(canonical));
  });

  it.each(vectors.operationIds)('id of $operationKey for $tenant', async (vector) => {
    expect(operationId(vector.tenant, vector.operationKey)).toBe(vector.operationId);
    const { code, out } = await hash(request(vector.operationKey), '--tenant', vector.tenant);
    expect({ code, id: out.split('\n')[1] }).toEqual({ code: 0, id: vector.operationId });
  });

  it.each(vectors.refused)('refused: $name', async ({ data, reason }) => {
    const { code, out, err } = await hash(data);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.includes('not the data of')).toBe(reason === 'wrong-schema');
  });
});

describe('docs/payload-hash.md', () => {
  const doc = readDoc('payload-hash.md');

  it('names what the code has', () => {
    expect(doc).toContain(`the namespace \`${OPERATION_NAMESPACE}\``);
    expect(doc).toContain(`This is version ${HASH_VERSION}.`);
    expect(doc).toContain(operationId('acme', 'order-17:confirmation'));
  });

  it('has JavaScript that gives every vector', async () => {
    const file = join(folder, 'example.mjs');
    writeFileSync(file, /```js\n([^]*?)```/.exec(doc)?.[1] ?? '');
    const example = z
      .looseObject({
        payloadHash: z.custom<(data: unknown) => string>(),
        contentHash: z.custom<(data: unknown) => string>(),
        operationId: z.custom<typeof operationId>(),
      })
      .parse(await import(file));
    const { operations, campaigns, operationIds } = vectors;
    expect(operations.map(({ data }) => example.payloadHash(JSON.parse(data)))).toEqual(
      operations.map((vector) => vector.hash),
    );
    expect(campaigns.map(({ data }) => example.contentHash(JSON.parse(data)))).toEqual(
      campaigns.map((vector) => vector.hash),
    );
    expect(operationIds.map(({ tenant, operationKey }) => example.operationId(tenant, operationKey))).toEqual(
      operationIds.map((vector) => vector.operationId),
    );
  });
});

describe('einmal hash', () => {
  const data = request('order-17');

  it('reads standard input, named - or not at all', async () => {
    const { out } = await hash(data);
    const script = fileURLToPath(new URL('einmal.ts', import.meta.url));
    for (const args of [[], ['-'], ['-', '--canonical']]) {
      const child = spawnSync(process.execPath, [script, 'hash', ...args], { encoding: 'utf8', input: data });
      const said = args.includes('--canonical') ? `${sha256(child.stdout)}\n` : child.stdout;
      expect({ status: child.status, said, stderr: child.stderr }).toEqual({ status: 0, said: out, stderr: '' });
    }
  });

  it('names every broken rule with its field, and no value', async () => {
    const wrong = {
      operationKey: '',
      kind: 'email',
      clas: 'marketing',
      request: { to: 'ada.lovelace', text: 'secret' },
    };
    const { code, err } = await hash(JSON.stringify(wrong));
    expect(code).toBe(1);
    expect(err.split('\n').toSorted()).toEqual([
      '',
      '  operationKey: must be at least 1 characters long',
      '  request.subject: is required',
      '  request.to: must be an address: a local part, @ and a domain',
      '  unknown member clas; did you mean class?',
      'einmal hash: not the data of einmal.operation.requested.v1:',
    ]);
  });

  it('takes a campaign for no operation, and an operation for no campaign', async () => {
    expect(await hash(vectors.campaigns[0]?.data ?? '')).toMatchObject({ code: 1, out: '' });
    expect(await hash(data, '--campaign')).toMatchObject({ code: 1, out: '' });
  });

  it.each([
    ['that is not there', '/nowhere.json', 'einmal hash: /nowhere.json: cannot be read (ENOENT)\n'],
    ['that is a folder', '/', 'einmal hash: /: cannot be read (EISDIR)\n'],
  ])('says so of a file %s', async (_what, file, expected) => {
    expect(await run(file)).toEqual({ code: 1, out: '', err: expected });
  });

  it('reads no more than the service takes, and as deep', async () => {
    const fits = withBody('""').padEnd(1_048_576);
    expect(await hash(fits)).toMatchObject({ code: 0 });
    expect(await hash(`${fits} `)).toEqual({
      code: 1,
      out: '',
      err: 'einmal hash: the data has more than 1048576 bytes\n',
    });
    expect(await hash(withBody(`${'['.repeat(62)}${']'.repeat(62)}`))).toMatchObject({ code: 0 });
    expect(await hash(withBody(`${'['.repeat(63)}${']'.repeat(63)}`))).toMatchObject({ code: 1 });
  });

  it.each([['--help'], ['-h']])('explains itself with %s', async (option) => {
    const { code, out } = await run(option);
    expect(code).toBe(0);
    expect(out).toContain('Usage: einmal hash');
  });

  it.each([
    ['two files', ['a.json', 'b.json'], 'only one file'],
    ['an option that there is not', ['--sha1'], 'Unknown option'],
    ['a tenant that cannot be', ['--tenant', 'a b'], '--tenant must be'],
    ['no tenant', ['--tenant'], 'tenant'],
    ['the id of a campaign', ['--campaign', '--tenant', 'acme'], 'goes with neither'],
    ['the id and the text', ['--canonical', '--tenant', 'acme'], 'goes with neither'],
  ])('refuses %s with the usage', async (_what, args, expected) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(expected);
    expect(err).toContain('Usage: einmal hash');
  });
});

function readDoc(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}
