import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnsweringServer,
  type GivenAnswer,
  startAnsweringServer,
} from '../../../test/support/answering-server.ts';
import { REFERENCE, sampleMail, sampleQuery } from '../../../test/support/sample-mail.ts';
import { httpSchema } from '../../config/provider-kinds/http.schema.ts';
import type { CallOutcome, Outgoing, OutgoingHttp, Provider } from '../provider.port.ts';
import { createHttpProvider } from './http.provider.ts';

const PATIENT_MS = 20_000;
const KEY = { kind: 'replay', windowSeconds: 3600 };

let server: AnsweringServer;
beforeAll(async () => {
  server = await startAnsweringServer();
});
beforeEach(() => server.answer({ status: 200, body: {} }));
afterAll(async () => await server[Symbol.asyncDispose]());

function create(more: Record<string, unknown> = {}): Provider {
  const settings = httpSchema.parse({ kind: 'http', baseUrl: `${server.url}/api`, allowPrivate: true, ...more });
  return createHttpProvider({ providerName: 'tickets', ...settings });
}

const call = (more: Partial<OutgoingHttp> = {}): OutgoingHttp => ({
  kind: 'http',
  reference: REFERENCE,
  method: 'POST',
  path: '/things',
  headers: {},
  body: { b: 1, a: [true, null, 'ü'] },
  ...more,
});

async function send(provider: Provider, outgoing: Outgoing = call()): Promise<CallOutcome> {
  const prepared = provider.prepare(outgoing, provider.shape);
  if (!prepared.ok) throw new Error(prepared.rule);
  return await prepared.call.send(PATIENT_MS);
}

function hashOf(provider: Provider, outgoing: Outgoing = call(), shape = provider.shape): string {
  const prepared = provider.prepare(outgoing, shape);
  if (!prepared.ok) throw new Error(prepared.rule);
  return prepared.call.hash.toString('hex');
}

describe('a call', () => {
  it('has method, path, headers and body of the operation', async () => {
    const provider = create({ headers: { 'X-Fixed': 'f' }, auth: { bearer: 'hunter2' }, key: KEY });
    await send(provider, call({ method: 'PUT', path: '/things/7?x=1', headers: { 'X-Own': 'o' } }));
    expect(server.seen.at(-1)).toMatchObject({
      method: 'PUT',
      url: '/api/things/7?x=1',
      headers: {
        'content-type': 'application/json',
        'x-fixed': 'f',
        'x-own': 'o',
        'idempotency-key': REFERENCE,
        authorization: 'Bearer hunter2',
      },
      body: '{"a":[true,null,"ü"],"b":1}',
    });
  });

  it('has no body when the operation has none', async () => {
    await send(create({ methods: ['GET'] }), call({ method: 'GET', body: undefined }));
    const { body, headers } = server.seen.at(-1) ?? {};
    expect([body, headers?.['content-type']]).toEqual(['', undefined]);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    [
      'basic',
      { basic: { user: 'u', password: 'p' } },
      'authorization',
      `Basic ${Buffer.from('u:p').toString('base64')}`,
    ],
    ['a header', { header: { name: 'X-Api-Key', value: 'hunter2' } }, 'x-api-key', 'hunter2'],
  ])('proves who asks by %s', async (_, auth, name, value) => {
    await send(create({ auth }));
    expect(server.seen.at(-1)?.headers[name]).toBe(value);
  });

  it('carries the key as configured', async () => {
    await send(create({ key: { ...KEY, header: 'X-Request-Id', form: 'quoted' } }));
    expect(server.seen.at(-1)?.headers['x-request-id']).toBe(`"${REFERENCE}"`);
    await send(create());
    expect(JSON.stringify(server.seen.at(-1)?.headers)).not.toContain(REFERENCE);
  });

  it('has the same bytes whatever the order of members and the credential', () => {
    const provider = create({ auth: { bearer: 'hunter2' }, key: KEY });
    const other = create({ auth: { bearer: 'another' }, key: KEY });
    const turned = call({ body: { a: [true, null, 'ü'], b: 1 } });
    expect(hashOf(provider, turned)).toBe(hashOf(provider));
    expect(hashOf(other)).toBe(hashOf(provider));
    expect(other.account).not.toBe(provider.account);
    for (const changed of [
      { method: 'PUT' },
      { path: '/x' },
      { headers: { 'X-A': 'a' } },
      { body: { b: 2 } },
    ] as const) {
      expect(hashOf(provider, call(changed))).not.toBe(hashOf(provider));
    }
  });

  it('keeps the shape of its first attempt', () => {
    const before = create({ headers: { 'X-Fixed': 'f' }, key: KEY });
    const after = create({ headers: { 'X-Fixed': 'g' }, key: { ...KEY, form: 'quoted' } });
    expect(hashOf(after)).not.toBe(hashOf(before));
    expect(hashOf(after, call(), before.shape)).toBe(hashOf(before));
    expect(after.prepare(call(), null)).toMatchObject({ ok: false });
  });
});

describe('a mail', () => {
  it('is sent as JSON of its parts', async () => {
    const provider = create({ mail: { path: '/mails/{{ reference }}', method: 'PUT' }, paths: ['/elsewhere'] });
    await send(provider, sampleMail());
    const request = server.seen.at(-1);
    expect(request).toMatchObject({ method: 'PUT', url: `/api/mails/${REFERENCE}` });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      reference: REFERENCE,
      from: { name: 'News, "A"', address: 'news@a.org' },
      replyTo: { name: null, address: 'desk@a.org' },
      to: 'jane@b.org',
      subject: 'Grüße',
      html: '<p>Hi</p>',
      text: 'Hi',
      headers: { 'X-A': '1', 'X-B': '2' },
    });
  });

  it('gives no result, since a mail has none', async () => {
    server.answer({ status: 200, body: { id: 1 } });
    expect(await send(create({ mail: { path: '/mails' } }), sampleMail())).not.toHaveProperty('result');
  });
});

const coded = (code: string) => ({ status: 400, jsonPath: '$.code', equals: code });

describe('answers', () => {
  const rejecting = { ...KEY, kind: 'reject-duplicate' };

  it.each<[string, Record<string, unknown>, GivenAnswer, string]>([
    ['2xx', {}, { status: 204 }, 'accepted'],
    ['2xx that is not listed', { answers: { accepted: [201] } }, { status: 200 }, 'ambiguous'],
    ['3xx', {}, { status: 302, headers: { location: '/' } }, 'account'],
    ['401', {}, { status: 401 }, 'account'],
    ['407', {}, { status: 407 }, 'account'],
    ['404', {}, { status: 404 }, 'rejected'],
    ['408', {}, { status: 408 }, 'ambiguous'],
    ['408, whatever 4xx may mean', { answers: { rejected: [404] } }, { status: 422 }, 'ambiguous'],
    ['409 without a key', {}, { status: 409 }, 'rejected'],
    ['409 with a key that replays', { key: KEY }, { status: 409 }, 'concurrent'],
    ['409 with a key that rejects', { key: rejecting }, { status: 409 }, 'duplicate'],
    ['422', { key: KEY }, { status: 422 }, 'rejected'],
    ['422 with a key that compares', { key: { ...KEY, comparesPayload: true } }, { status: 422 }, 'key-mismatch'],
    ['429', {}, { status: 429 }, 'throttled'],
    ['503 with a time', {}, { status: 503, headers: { 'retry-after': '4' } }, 'throttled'],
    ['503', {}, { status: 503 }, 'ambiguous'],
    ['503, told otherwise', { answers: { throttled: [503] } }, { status: 503 }, 'throttled'],
    ['500', {}, { status: 500, body: { id: 1 } }, 'ambiguous'],
    ['5xx, told otherwise', { answers: { rejected: ['5xx'] } }, { status: 502 }, 'rejected'],
    ['a code', { answers: { duplicate: [coded('dup')] } }, { status: 400, body: { code: 'dup' } }, 'duplicate'],
    ['another code', { answers: { duplicate: [coded('dup')] } }, { status: 400, body: { code: 'x' } }, 'rejected'],
    [
      'a code with another status',
      { answers: { duplicate: [coded('dup')] } },
      { status: 422, body: { code: 'dup' } },
      'rejected',
    ],
    ['a number', { answers: { account: [coded('7')] } }, { status: 400, body: { code: 7 } }, 'account'],
    [
      'an id where it should be',
      { effectId: { jsonPath: '$.a[0].id' } },
      { status: 200, body: { a: [{ id: 5 }] } },
      'accepted',
    ],
    [
      'no id where it should be',
      { effectId: { jsonPath: '$.a[0].id' } },
      { status: 200, body: { a: [] } },
      'ambiguous',
    ],
    ['HTML instead of an id', { effectId: { jsonPath: '$.id' } }, { status: 200, body: '<html>' }, 'ambiguous'],
  ])('%s', async (_, more, answer, kind) => {
    server.answer(answer);
    expect(await send(create(more))).toMatchObject({ kind, code: `http-${answer.status}` });
  });

  it('give back id and result', async () => {
    server.answer({ status: 201, body: '{"id":1152921504606846977,"state":"open"}' });
    expect(await send(create({ effectId: { jsonPath: '$.id' } }))).toEqual({
      kind: 'accepted',
      effectId: '1152921504606846977',
      result: { id: '1152921504606846977', state: 'open' },
      code: 'http-201',
      diagnostic: '',
    });
  });

  it('that are longer than what is read give no result', async () => {
    server.answer({ status: 200, body: { text: 'x'.repeat(300_000) } });
    const outcome = await send(create());
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(outcome).not.toHaveProperty('result');
  });

  it('say why, without secrets and addresses', async () => {
    server.answer({ status: 400, body: { detail: 'the token hunter2 of jane@b.org\u0007 is wrong' } });
    const outcome = await send(create({ auth: { bearer: 'hunter2' } }));
    expect(outcome.diagnostic).toBe('the token <secret> of <address> is wrong');
  });
});

describe('a look-up', () => {
  const lookup = {
    path: '/things?ref={{ reference }}',
    found: { jsonPath: '$.items[0].ref', equals: '{{ reference }}' },
    effectId: { jsonPath: '$.items[0].id' },
    minAgeSeconds: 30,
  };

  it.each<[string, GivenAnswer, Record<string, unknown>]>([
    [
      'finds it',
      { status: 200, body: { items: [{ ref: REFERENCE, id: 9 }] } },
      { kind: 'hit', effectId: '9', state: 'accepted' },
    ],
    ['does not find it', { status: 200, body: { items: [] } }, { kind: 'miss' }],
    ['finds another', { status: 200, body: { items: [{ ref: 'other', id: 9 }] } }, { kind: 'miss' }],
    ['finds nothing there', { status: 404 }, { kind: 'miss' }],
    ['gets no JSON', { status: 200, body: '<html>' }, { kind: 'failed', retryAfterMs: null }],
    ['comes too often', { status: 429, headers: { 'retry-after': '5' } }, { kind: 'failed', retryAfterMs: 5000 }],
    ['meets a broken server', { status: 500 }, { kind: 'failed', retryAfterMs: null }],
    ['may not', { status: 401 }, { kind: 'failed' }],
  ])('%s', async (_, answer, outcome) => {
    server.answer(answer);
    const provider = create({ lookup, auth: { bearer: 'hunter2' }, headers: { 'X-Fixed': 'f' } });
    expect(await provider.lookup?.(sampleQuery(), PATIENT_MS)).toMatchObject({
      ...outcome,
      code: `http-${answer.status}`,
    });
    expect(server.seen.at(-1)).toMatchObject({
      method: 'GET',
      url: `/api/things?ref=${REFERENCE}`,
      headers: { authorization: 'Bearer hunter2', 'x-fixed': 'f' },
    });
  });

  it('is there only where it is configured', async () => {
    expect(create()).toHaveProperty('lookup', undefined);
    expect(create({ lookup }).abilities.lookup).toEqual({ kind: 'by-reference', minAgeMs: 30_000, miss: 'hold' });
  });

  it('that gets no answer fails', async () => {
    const provider = create({ lookup });
    await provider.close();
    expect(await provider.lookup?.(sampleQuery(), PATIENT_MS)).toMatchObject({ kind: 'failed', code: 'closed' });
  });
});

it('says of itself what is configured', () => {
  const key = { kind: 'reject-duplicate', windowSeconds: 60, marginSeconds: 5, comparesPayload: true };
  expect(create({ key, receipt: { waitSeconds: 9 } }).abilities).toMatchObject({
    key: { kind: 'reject-duplicate', windowMs: 60_000, marginMs: 5000, comparesPayload: true, scope: 'request' },
    lookup: { kind: 'none' },
    receipt: { kind: 'proves-acceptance', waitMs: 9000 },
  });
});
