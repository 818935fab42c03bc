import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../test/support/answering-server.ts';
import { REFERENCE, sampleMail } from '../../test/support/sample-mail.ts';
import type { ProviderConfig } from '../config/einmal-config.ts';
import { providerSchemas } from '../config/provider.schema.ts';
import { inconsistencies } from './abilities.ts';
import { createProvider } from './create-provider.ts';
import type { CallOutcome, PreparedCall, Provider } from './provider.port.ts';

const SECRET = 'hunter2-hunter2';
const PATIENT_MS = 20_000;

/** Keys of their own, and whether a header carries a key. */
const KINDS = {
  ses: { region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET, configurationSet: 'main' },
  sendgrid: { apiKey: SECRET },
  postmark: { serverToken: SECRET },
  mailgun: { apiKey: SECRET, domain: 'mg.a.org' },
  resend: { apiKey: SECRET },
  brevo: { apiKey: SECRET },
  mailjet: { apiKey: 'public-key', secretKey: SECRET, deduplicate: { windowSeconds: 3600 } },
  sparkpost: { apiKey: SECRET },
  mailersend: { apiKey: SECRET },
} as const;
type Kind = keyof typeof KINDS;

function configOf(kind: Kind, baseUrl: string, more: Record<string, unknown> = {}): ProviderConfig {
  const settings = providerSchemas[kind].parse({ kind, baseUrl, allowPrivate: true, ...KINDS[kind], ...more });
  return { providerName: 'main', ...settings };
}

const noPublish = async (): Promise<CallOutcome> =>
  await Promise.resolve({ kind: 'not-sent', code: 'none', diagnostic: '' });

function providerOf(kind: Kind, baseUrl: string, more: Record<string, unknown> = {}): Provider {
  return createProvider(configOf(kind, baseUrl, more), { publishDelivery: noPublish });
}

function prepared(provider: Provider, mail = sampleMail()): PreparedCall {
  const result = provider.prepare(mail, provider.shape);
  if (!result.ok) throw new Error(result.rule);
  return result.call;
}

describe.each(Object.keys(KINDS) as Kind[])('%s', (kind) => {
  let server: AnsweringServer;
  let provider: Provider;
  beforeEach(async () => {
    server = await startAnsweringServer();
    provider = providerOf(kind, `${server.url}/base`);
  });
  afterEach(async () => {
    await provider.close();
    await server[Symbol.asyncDispose]();
  });

  it('has abilities that hold together', () => {
    expect(inconsistencies(provider.abilities)).toEqual([]);
    expect(provider.lookup !== undefined).toBe(provider.abilities.lookup.kind !== 'none');
  });

  it('has the same bytes for the same mail, whatever the credential and the host', () => {
    const { hash } = prepared(provider);
    const credential = Object.fromEntries(
      Object.entries(KINDS[kind]).map(([name, value]) => [name, value === SECRET ? 'another-secret' : value]),
    );
    const elsewhere = providerOf(kind, 'http://10.0.0.1/base', credential);
    expect(hash).toHaveLength(32);
    expect(prepared(provider).hash).toEqual(hash);
    expect(prepared(elsewhere).hash).toEqual(hash);
    expect(elsewhere.account).not.toBe(provider.account);
    expect(provider.account).toMatch(/^[0-9a-f]{32}$/);
  });

  it('has other bytes for another mail', () => {
    const { hash } = prepared(provider);
    const other = { ...sampleMail(), reference: REFERENCE.replace('3', '4') };
    expect(prepared(provider, other).hash).not.toEqual(hash);
    const text = { raw: () => Buffer.from('Subject: x\r\n\r\nBye\r\n') };
    expect(prepared(provider, sampleMail({ text: 'Bye' }, text)).hash).not.toEqual(hash);
  });

  it('sends once, with our reference and the credential, below the path of the base URL', async () => {
    await prepared(provider).send(PATIENT_MS);
    expect(server.seen).toHaveLength(1);
    const [request] = server.seen;
    expect(request?.method).toBe('POST');
    expect(request?.url).toMatch(/^\/base\//);
    expect(request?.body).toContain(REFERENCE);
    expect(request?.body).not.toContain(SECRET);
    expect(
      Object.keys(request?.headers ?? {}).some((name) =>
        /^(?:authorization|api-key|x-postmark-server-token)$/.test(name),
      ),
    ).toBe(true);
  });

  it('carries a key exactly where it says so', async () => {
    await prepared(provider).send(PATIENT_MS);
    const body = server.seen[0]?.body ?? '';
    const keyed =
      server.seen[0]?.headers['idempotency-key'] === REFERENCE ||
      /"idempotencyKey"|"DeduplicateCampaign":true/.test(body);
    expect(keyed).toBe(provider.abilities.key.kind !== 'none');
  });

  it.each<[string, number, unknown, string]>([
    ['a garbage 200', 200, '<html>welcome</html>', 'ambiguous'],
    ['an empty 200', 200, undefined, 'ambiguous'],
    ['JSON that it does not document', 200, { ok: true }, 'ambiguous'],
    ['a 204', 204, undefined, 'ambiguous'],
    ['a redirect', 302, undefined, 'account'],
    ['no right', 401, {}, 'account'],
    ['forbidden', 403, {}, 'account'],
    ['nothing there', 404, {}, 'account'],
    ['a request timeout', 408, {}, 'ambiguous'],
    ['a conflict that is not documented', 409, {}, 'ambiguous'],
    ['a size that is too large', 413, {}, 'rejected'],
    ['too many', 429, '', 'throttled'],
    ['a broken server', 500, {}, 'ambiguous'],
    ['a bad gateway', 502, '<html>', 'ambiguous'],
    ['a server that is not there', 503, {}, 'ambiguous'],
  ])('takes %s for what it is', async (_, status, body, kind) => {
    server.answer({ status, body, headers: { 'retry-after': '7' } });
    const outcome = await prepared(provider).send(PATIENT_MS);
    expect(outcome).toMatchObject({ kind, code: `http-${status}` });
    expect(outcome.kind === 'throttled' ? outcome.retryAfterMs : 7000).toBe(7000);
  });

  it('shows neither addresses nor credentials', async () => {
    const words = `no: jane@b.org may not, ${SECRET} is wrong`;
    const errors = [{ message: words }];
    server.answer({
      status: 400,
      body: { message: words, Message: words, ErrorMessage: words, ErrorCode: '1', errors },
    });
    const outcome = await prepared(provider).send(PATIENT_MS);
    expect(outcome.diagnostic).toContain('may not');
    expect(JSON.stringify(outcome)).not.toMatch(/jane@|hunter2/);
  });

  it('refuses what it cannot carry', () => {
    const call = { kind: 'http', reference: REFERENCE, method: 'POST', path: '/', headers: {}, body: {} } as const;
    expect(provider.prepare(call, provider.shape)).toMatchObject({
      ok: false,
      rule: expect.stringMatching(/^kind:/) as string,
    });
    expect(provider.prepare(sampleMail(), { unheard: 'of' })).toMatchObject({ ok: false });
    expect(provider.prepare({ ...sampleMail(), reference: 'a b' }, provider.shape)).toMatchObject({ ok: false });
    const large = Buffer.alloc(provider.abilities.limits.maxBytes, 'x');
    const huge = sampleMail({ text: large.toString() }, { raw: () => large });
    expect(provider.prepare(huge, provider.shape)).toMatchObject({
      ok: false,
      rule: expect.stringMatching(/^size:/) as string,
    });
  });

  it('is not sent to a private network that is not allowed', async () => {
    const guarded = providerOf(kind, `${server.url}/base`, { allowPrivate: false });
    const outcome = await prepared(guarded).send(PATIENT_MS);
    expect(outcome).toMatchObject({ kind: 'not-sent', code: 'private-address' });
    expect(server.seen).toHaveLength(0);
  });
});

describe('the shape of a first attempt', () => {
  it.each<[Kind, Record<string, unknown>]>([
    ['postmark', { messageStream: 'other' }],
    ['mailgun', { domain: 'other.a.org' }],
    ['mailjet', { deduplicate: null }],
    ['ses', { configurationSet: 'other' }],
  ])('outlives a changed configuration of %s', (kind, changed) => {
    const before = providerOf(kind, 'https://x.example');
    const after = providerOf(kind, 'https://x.example', changed);
    const kept: unknown = JSON.parse(JSON.stringify(before.shape));
    const again = after.prepare(sampleMail(), kept as typeof before.shape);
    expect(prepared(after).hash).not.toEqual(prepared(before).hash);
    expect(again.ok && again.call.hash).toEqual(prepared(before).hash);
  });
});
