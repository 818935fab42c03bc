import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { operationId } from '../../src/operations/operation-id.ts';
import { payloadHash } from '../../src/operations/payload-hash.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { createApiGround, type Answer, type ApiGround, type Sent } from './api-ground.ts';

let ground: ApiGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await rig.reset());

const PROBLEM = expect.stringContaining('application/problem+json');
const REQUEST = { to: 'ada@example.com', subject: 'Your order', text: 'Thank you.' };
const MAIL = { kind: 'email', request: REQUEST } as const;
const CALL = { kind: 'http', request: { endpoint: 'crm', method: 'POST', path: '/x' } } as const;
const HASH = payloadHash(MAIL);
const OTHER = { kind: 'email', request: { ...REQUEST, to: 'grace@example.com' } } as const;

const ask = async (key: string, body: object = MAIL, headers: Sent['headers'] = {}): Promise<Answer> =>
  await ground.post('/v1/operations', body, { headers: { 'idempotency-key': key, ...headers } });
const many = async (operations: unknown, sent: Omit<Sent, 'body'> = {}): Promise<Answer> =>
  await ground.post('/v1/operations', { operations }, sent);
const item = (operationKey: string, parts: object = {}): object => ({ operationKey, ...MAIL, ...parts });

describe('POST /v1/operations', () => {
  it('says 202 to a new one, which is queued and told with the request as its cause', async () => {
    const answer = await ask('order-17', MAIL, { 'x-request-id': 'web-42' });
    expect(answer).toMatchObject({
      status: 202,
      body: {
        operationKey: 'order-17',
        operationId: operationId('demo', 'order-17'),
        state: 'queued',
        payloadHash: HASH,
        attempts: 0,
        effectId: null,
        reason: null,
      },
    });
    expect(answer.headers.get('x-request-id')).toBe('web-42');
    expect(answer.headers.get('location')).toBe(`/v1/operations/by-id/${operationId('demo', 'order-17')}`);
    expect(await rig.eventsOf('order-17')).toEqual(['operation.queued']);
    expect(await rig.query('SELECT causation_id, address_key FROM operations')).toEqual([
      { causation_id: 'web-42', address_key: 'ada@example.com' },
    ]);
    // What is asked for stands in the ledger; the audit is for decisions.
    expect(await rig.query('SELECT FROM audit')).toEqual([]);
  });

  it('is sent by a dispatcher, once', async () => {
    await ask('a');
    await ask('a');
    const worker = rig.worker();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await rig.sink.recipients()).toEqual(new Map([['ada@example.com', 1]]));
    expect(await ask('a')).toMatchObject({
      status: 200,
      body: { state: 'accepted', attempts: 1, effectId: expect.any(String), firstSeenAt: expect.any(String) },
    });
  });

  it('says 200 with the result to a repeated call', async () => {
    await ask('call', CALL);
    await rig.query(`UPDATE operations SET state = 'accepted', claim_seq = 1, attempts = 1, effect_id = 'crm-9'`);
    await rig.query(
      `INSERT INTO checkpoints (tenant_id, operation_id, step, result, effect_id, claim_seq)
       SELECT tenant_id, operation_id, 0, '{"id":9}', 'crm-9', 1 FROM operations`,
    );
    expect(await ask('call', CALL)).toMatchObject({
      status: 200,
      body: { state: 'accepted', result: { id: 9 }, effectId: 'crm-9' },
    });
  });

  it('says 422 to another payload, with both hashes and when the first was seen', async () => {
    await ask('a');
    const answer = await ask('a', OTHER);
    expect(answer).toMatchObject({
      status: 422,
      type: PROBLEM,
      body: {
        type: '/problems/conflicted',
        status: 422,
        state: 'queued',
        payloadHash: HASH,
        refusedPayloadHash: payloadHash(OTHER),
        firstSeenAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    });
    expect(await rig.eventsOf('a')).toEqual(['operation.queued', 'operation.conflicted']);
  });

  it.each<[string, object, string]>([
    [
      'rejected',
      { ...MAIL, request: { ...REQUEST, to: 'ada@localhost' } },
      'request.to: the domain has only one label',
    ],
    ['expired', { ...MAIL, deadline: '2020-01-01T00:00:00Z' }, 'the deadline had passed when the request arrived'],
  ])('says 422 %s, and the same again when it is asked again', async (name, body, detail) => {
    for (const _ of [1, 2])
      expect(await ask('a', body)).toMatchObject({
        status: 422,
        type: PROBLEM,
        body: { type: `/problems/${name}`, state: name, detail },
      });
    // What was queued and ended so later was no refusal.
    await rig.query(`UPDATE operations SET changed_at = now() + interval '1 second'`);
    expect(await ask('a', body)).toMatchObject({ status: 200, body: { state: name } });
  });

  it('says 422 cancelled when a cancellation came first', async () => {
    await ground.post('/v1/operations/a/cancel', { reason: 'not wanted' });
    for (const _ of [1, 2])
      expect(await ask('a')).toMatchObject({ status: 422, body: { type: '/problems/cancelled', state: 'cancelled' } });
  });

  it('says 422 to a key that was used and forgotten', async () => {
    await rig.query(
      `INSERT INTO operation_tombstones (tenant_id, operation_id, state, ended_at)
       VALUES ('demo', $1, 'accepted', now())`,
      [operationId('demo', 'a')],
    );
    expect(await ask('a')).toMatchObject({ status: 422, body: { type: '/problems/too-old-to-deduplicate' } });
    expect(await rig.query('SELECT FROM operations')).toEqual([]);
  });

  it('is queued at once when its approval came first', async () => {
    const approval = { object: 'offer', revision: 1 };
    const grant = { ...approval, hash: payloadHash({ ...MAIL, approval }) };
    await ground.post('/v1/approvals', grant);
    expect(await ask('a', { ...MAIL, approval })).toMatchObject({ status: 202, body: { state: 'queued' } });
    expect(await ask('b', { ...MAIL, approval: { ...approval, revision: 2 } })).toMatchObject({
      status: 202,
      body: { state: 'awaiting-approval' },
    });
  });

  it('200 times at once is one operation', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, async () => await ask('once')));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(199);
    expect(await rig.states()).toEqual({ queued: 1 });
  });
});

describe('the key', () => {
  it.each([
    ['visible ASCII', 'order-17:confirmation/%20', 'order-17:confirmation/%20'],
    ['percent-encoded', "UTF-8''order%2017%20%C3%A4%2F", 'order 17 ä/'],
    ['in quotes by encoding', "utf-8''%22a%22", '"a"'],
  ])('is %s', async (_what, header, key) => {
    expect(await ask(header)).toMatchObject({ status: 202, body: { operationKey: key } });
  });

  it.each([
    ['with a blank', 'order 17', "must be visible ASCII, or UTF-8'' and percent-encoded UTF-8"],
    ['beyond ASCII', 'order-\u00e4', "must be visible ASCII, or UTF-8'' and percent-encoded UTF-8"],
    ['in quotes', '"a"', "must not begin with a quote; a key that does is written UTF-8''%22..."],
    ['no UTF-8', "UTF-8''%ff", "must have valid UTF-8 after UTF-8''"],
    ['half encoded', "UTF-8''%4", "must have after UTF-8'' only unreserved characters and %XX"],
    ['empty', "UTF-8''", 'must have 1 to 512 characters, and no U+0000'],
    ['too long', 'k'.repeat(513), 'must have 1 to 512 characters, and no U+0000'],
    ['with U+0000', "UTF-8''a%00", 'must have 1 to 512 characters, and no U+0000'],
  ])('is not %s', async (_what, header, rule) => {
    expect(await ask(header)).toMatchObject({
      status: 400,
      type: PROBLEM,
      body: { errors: [{ field: 'Idempotency-Key', rule }] },
    });
  });

  it('may be in the body, and then the header says the same or nothing', async () => {
    const body = { ...MAIL, operationKey: 'a' };
    expect((await ground.post('/v1/operations', body)).status).toBe(202);
    expect((await ask('a', body)).status).toBe(200);
    expect(await ask('b', body)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'operationKey', rule: 'must be the same as Idempotency-Key' }] },
    });
  });

  it('is needed', async () => {
    expect(await ground.post('/v1/operations', MAIL)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'Idempotency-Key', rule: 'is required' }] },
    });
  });
});

describe('a request id', () => {
  it.each([['a b'], ['x'.repeat(129)], ['a@example.org']])('%s is replaced', async (given) => {
    const answer = await ask('a', MAIL, { 'x-request-id': given });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-/);
  });

  it('is on refusals too', async () => {
    const answer = await ground.call('GET', '/v1/stats', { token: null, headers: { 'x-request-id': 'r-1' } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('x-request-id')).toBe('r-1');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('many operations in one call', () => {
  it('have an answer each, in order; a bad one spoils no other', async () => {
    await ask('known');
    const answer = await many([
      item('new'),
      item('known'),
      item('known', { request: OTHER.request }),
      item('bad', { priority: 10, kindd: 1 }),
      { ...MAIL },
      item('late', { deadline: '2020-01-01T00:00:00Z' }),
      'no operation',
      item('last'),
    ]);
    expect(answer.status).toBe(200);
    expect(answer.body['items']).toMatchObject([
      { operationKey: 'new', outcome: 'queued', status: 202, state: 'queued' },
      { operationKey: 'known', outcome: 'duplicated', status: 200 },
      { operationKey: 'known', outcome: 'conflicted', status: 422, type: '/problems/conflicted' },
      {
        operationKey: 'bad',
        outcome: 'invalid',
        status: 400,
        errors: [
          { field: 'priority', rule: 'must be at most 9' },
          { field: '', rule: 'unknown member kindd; did you mean kind?' },
        ],
      },
      { operationKey: null, outcome: 'invalid', errors: [{ field: 'operationKey', rule: 'is required' }] },
      { operationKey: 'late', outcome: 'expired', status: 422, type: '/problems/expired' },
      { operationKey: null, outcome: 'invalid', status: 400 },
      { operationKey: 'last', outcome: 'queued', status: 202 },
    ]);
    expect(await rig.states()).toEqual({ queued: 3, expired: 1 });
  });

  it('with one key twice are as two calls', async () => {
    const answer = await many([item('a'), item('a'), item('a', { request: OTHER.request })]);
    expect((answer.body['items'] as { outcome: string }[]).map(({ outcome }) => outcome)).toEqual([
      'queued',
      'duplicated',
      'conflicted',
    ]);
  });

  it('are at most 1000', async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => item(`k${index}`));
    expect((await many(keys)).status).toBe(200);
    expect(await rig.states()).toEqual({ queued: 1000 });
    expect(await many([...keys, item('one more')])).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'operations', rule: 'must have 1 to 1000 entries' }] },
    });
  });

  it.each<[string, unknown, Sent['headers'], string]>([
    ['none', { operations: [] }, {}, 'operations'],
    ['no list', { operations: {} }, {}, 'operations'],
    ['another member', { operations: [item('a')], perSecond: 1 }, {}, ''],
    ['a key of the whole', { operations: [item('a')] }, { 'idempotency-key': 'a' }, 'Idempotency-Key'],
    ['no object', [item('a')], {}, ''],
  ])('with %s are refused as a whole', async (_what, body, headers, field) => {
    const answer = await ground.post('/v1/operations', body, { headers: headers ?? {} });
    expect(answer).toMatchObject({ status: 400, type: PROBLEM, body: { errors: [{ field }] } });
    expect(await rig.states()).toEqual({});
  });
});

describe('scopes', () => {
  it.each(['reader', 'decider'] as const)('a token that may only be a %s asks for nothing', async (token) => {
    expect(await ground.post('/v1/operations', MAIL, { token })).toMatchObject({
      status: 403,
      body: { missingScope: 'request' },
    });
  });
});
