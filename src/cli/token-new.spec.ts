import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { tenantSchema } from '../config/tenant.schema.ts';
import { runCommand } from './commands.ts';

async function call(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await runCommand(['token', 'new', ...args], {
    env: {},
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
  });
  return { code, ...said };
}

it('draws a token, and its lines are settings', async () => {
  const { code, out } = await call('--name', 'shop', '--scopes', 'operate,read');
  const [token = '', , ...lines] = out.split('\n');
  expect(code).toBe(0);
  expect(token).toMatch(/^einmal_[\w-]{43}$/);
  const settings = tenantSchema.parse({
    ...(parse(lines.join('\n')) as object),
    senders: ['a.example'],
    provider: 'main',
  });
  expect(settings.tokens).toEqual([
    {
      name: 'shop',
      sha256: hash('sha256', token, 'hex'),
      scopes: ['read', 'operate'],
      rate: { perSecond: 100, burst: 200 },
      expiresAt: null,
    },
  ]);
});

it('never draws one twice', async () => {
  const drawn = await Promise.all(Array.from({ length: 50 }, async () => (await call()).out.split('\n')[0]));
  expect(new Set(drawn).size).toBe(50);
});

it.each([
  [['--scopes', 'all'], '--scopes must be'],
  [['--scopes', 'read,read'], '--scopes must be'],
  [['--name', 'a: b'], '--name must be'],
  [['--nane', 'x'], '--nane'],
])('refuses %j', async (args, words) => {
  const { code, out, err } = await call(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(words);
});

it('helps', async () => {
  expect(await call('--help')).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Usage') });
});
