import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { operationId } from '../../src/operations/operation-id.ts';
import { payloadHash } from '../../src/operations/payload-hash.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { ScriptedProvider } from '../support/dispatch-worker.ts';
import { createApiGround, type Answer, type ApiGround } from './api-ground.ts';
import { auditRows } from './unknowns-ground.ts';

let ground: ApiGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await rig.reset());

const path = (key: string, what = ''): string => `/v1/operations/${encodeURIComponent(key)}${what}`;
const cancel = async (key: string): Promise<Answer> => await ground.post(path(key, '/cancel'), { reason: 'order off' });
const set = async (key: string, text: string): Promise<void> =>
  void (await rig.query(`UPDATE operations SET ${text} WHERE operation_key = $1`, [key]));
const leased = (state: string): string =>
  `state = '${state}', claim_seq = 1, attempts = 1, claimed_by = gen_random_uuid(), lease_until = now() + interval '1 minute'`;
const dead = (parts = ''): string => `state = 'dead', state_reason = 'attempts-used-up', claim_seq = 4, attempts = 12,
  crashes = 2, throttles = 7, changed_at = now() + interval '1 second'${parts}`;

const redrive = async (key: string, claimNumber = 4, parts: object = {}): Promise<Answer> =>
  await ground.post(path(key, '/redrive'), { reason: 'server is well again', claimNumber, ...parts });
const draft = async (): Promise<void> => {
  await rig.campaign('c', []);
  await rig.query(`UPDATE campaigns SET state = 'drafted', approved_by = NULL`);
};

async function attempt(key: string, outcome: string | null, step = 0): Promise<void> {
  await rig.query(
    `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, ended_at, outcome, step)
     SELECT tenant_id, operation_id, 1 + $3, 'main', gen_random_uuid(), CASE WHEN $2::text IS NOT NULL THEN now() END, $2, $3
     FROM operations WHERE operation_key = $1`,
    [key, outcome, step],
  );
}

describe('GET /v1/operations/{key}', () => {
  it('shows what is approved, and by which hash', async () => {
    const approval = { object: 'offer', revision: 2 };
    const request = { to: 'ada@example.com', subject: 'x', text: 'x' };
    const hash = payloadHash({ kind: 'email', request, approval });
    await ground.post('/v1/operations', { operationKey: 'a/b', kind: 'email', request, approval });
    expect(await ground.get(path('a/b'))).toMatchObject({
      status: 200,
      body: {
        operationKey: 'a/b',
        state: 'awaiting-approval',
        approval: { ...approval, hash, granted: false },
        steps: null,
        redriven: 0,
        scrubbedAt: null,
        attempts: [],
        links: {
          self: `/v1/operations/by-id/${operationId('demo', 'a/b')}`,
          campaign: null,
          audit: '/v1/audit?object=a%2Fb',
        },
      },
    });
    await ground.post('/v1/approvals', { ...approval, hash, expiresAt: '2999-01-01T00:00:00Z' });
    expect((await ground.get(path('a/b'))).body).toMatchObject({ state: 'queued', approval: { granted: true } });
    await ground.post('/v1/approvals/withdraw', { ...approval, reason: 'wrong' });
    expect((await ground.get(path('a/b'))).body).toMatchObject({ approval: { granted: false } });
  });

  it('shows each step: done, now or later', async () => {
    const call = { endpoint: 'crm', method: 'POST', path: '/x' };
    const steps = ['one', 'two', 'three'].map((name) => ({ name, version: 1, kind: 'http', request: call }));
    await ground.post('/v1/operations', { operationKey: 'a', kind: 'steps', request: { steps } });
    await set('a', 'step = 1, claim_seq = 1');
    await rig.query(
      `INSERT INTO checkpoints (tenant_id, operation_id, step, name, version, input_hash, result, effect_id, claim_seq)
       SELECT tenant_id, operation_id, 0, 'one', 1, payload_hash, '{"id":7}', 'e-1', 1 FROM operations`,
    );
    const { body } = await ground.get(path('a'));
    expect(body['steps']).toEqual([
      {
        name: 'one',
        version: 1,
        kind: 'http',
        state: 'done',
        inputHash: expect.stringMatching(/^sha256:/),
        result: { id: 7 },
        effectId: 'e-1',
        acceptedAt: expect.any(String),
      },
      expect.objectContaining({ name: 'two', state: 'now', inputHash: null, result: null }),
      expect.objectContaining({ name: 'three', state: 'later' }),
    ]);
    expect(body['results']).toEqual({ one: { result: { id: 7 }, effectId: 'e-1' } });
    await rig.query('DELETE FROM operation_requests');
    expect((await ground.get(path('a'))).body['steps']).toMatchObject([{ name: 'one', state: 'done' }]);
  });

  it('shows the result of a single call', async () => {
    await rig.request(['a'], { kind: 'http' });
    await rig.query(
      `INSERT INTO checkpoints (tenant_id, operation_id, step, result, claim_seq)
       SELECT tenant_id, operation_id, 0, '[1]', 1 FROM operations`,
    );
    expect((await ground.get(path('a'))).body).toMatchObject({ kind: 'http', result: [1], steps: null });
  });

  it.each(['/v1/operations/%ff', '/v1/operations/%', '/v1/operations/a%00b', `/v1/operations/${'k'.repeat(513)}`])(
    '%s is nothing, and no error of ours',
    async (url) => {
      const { status, type } = await ground.get(url);
      expect([400, 404]).toContain(status);
      expect(type).toContain('application/problem+json');
    },
  );
});

describe('POST /v1/operations/{key}/cancel', () => {
  it.each(['queued', 'claimed'])('cancels what is %s, with event and audit', async (state) => {
    await rig.request(['a']);
    if (state === 'claimed') await set('a', leased('claimed'));
    expect(await cancel('a')).toMatchObject({
      status: 200,
      body: { operationKey: 'a', operationId: operationId('demo', 'a'), outcome: 'cancelled', state: 'cancelled' },
    });
    expect(await rig.eventsOf('a')).toEqual(['operation.cancelled']);
    expect(await auditRows(rig)).toEqual([
      {
        tenant_id: 'demo',
        actor: 'all',
        action: 'operation.cancel',
        object: 'a',
        reason: 'order off',
        before: { state },
        after: { state: 'cancelled' },
      },
    ]);
  });

  it.each(['calling', 'unknown'])('is too late for what is %s: 202, the outcome follows', async (state) => {
    await rig.request(['a']);
    await set('a', state === 'calling' ? leased(state) : `state = 'unknown', claim_seq = 1`);
    expect(await cancel('a')).toMatchObject({ status: 202, body: { outcome: 'too-late', state } });
    expect(await rig.operation('a')).toMatchObject({ state, claim_seq: '1' });
    expect(await auditRows(rig)).toEqual([]);
    const [told] = await rig.query<{ reason: string }>(
      `SELECT convert_from(message_value, 'UTF8')::json ->> 'reason' AS reason FROM outbox`,
    );
    expect(told?.reason).toMatch(/^too-late: /);
  });

  it.each(['accepted', 'cancelled', 'dead'])('says 200 with the state to what is %s', async (state) => {
    await rig.request(['a']);
    await set('a', `state = '${state}', state_reason = 'x', claim_seq = 1`);
    expect(await cancel('a')).toMatchObject({ status: 200, body: { outcome: 'already-ended', state } });
    expect(await auditRows(rig)).toEqual([]);
  });

  it('of what nobody has asked for yet keeps it from being done, and is written down once', async () => {
    for (const _ of [1, 2])
      expect(await cancel('early')).toMatchObject({ status: 200, body: { outcome: 'cancelled-before-request' } });
    expect(await auditRows(rig)).toMatchObject([{ action: 'operation.cancel', before: {}, object: 'early' }]);
  });

  it('keeps no address of the reason', async () => {
    await rig.request(['a']);
    await ground.post(path('a', '/cancel'), { reason: 'ada@example.com called' });
    expect(await auditRows(rig)).toMatchObject([{ reason: '<address> called' }]);
    expect(await rig.operation('a')).toMatchObject({ state_reason: 'cancelled by all: <address> called' });
  });
});

describe('POST /v1/operations/{key}/redrive', () => {
  it.each(['dead', 'rejected', 'expired'])('queues what is %s, and it is sent with its history', async (state) => {
    await rig.request(['a']);
    await set('a', dead(`, state = '${state}'`).replace(`state = 'dead', `, ''));
    await attempt('a', 'not-sent');
    const answer = await redrive('a');
    expect(answer).toMatchObject({
      status: 200,
      body: { operationKey: 'a', outcome: 'redriven', state: 'queued', claimNumber: 5, deadline: null },
    });
    expect(
      await rig.query('SELECT attempts, crashes, throttles, redriven, claim_seq, state_reason FROM operations'),
    ).toEqual([
      {
        attempts: 0,
        crashes: 0,
        throttles: 0,
        redriven: 1,
        claim_seq: '5',
        state_reason: 'redriven: server is well again',
      },
    ]);
    expect(await rig.eventsOf('a')).toEqual(['operation.queued']);
    expect(await auditRows(rig)).toMatchObject([
      {
        action: 'operation.redrive',
        object: 'a',
        reason: 'server is well again',
        before: { state, claimNumber: 4, attempts: 12, redriven: 0 },
        after: { state: 'queued', claimNumber: 5, redriven: 1 },
      },
    ]);
    await rig.worker().workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
    expect(await rig.attempts('a')).toHaveLength(2);
    expect((await ground.get(path('a'))).body).toMatchObject({ redriven: 1, state: 'accepted' });
  });

  it.each<[string | null, boolean]>([
    ['not-sent', false],
    ['throttled', false],
    ['rejected', false],
    ['account', false],
    ['ambiguous', true],
    ['lost', true],
    ['accepted', true],
    [null, true],
  ])('after an attempt that was %s holds to the bytes of the first: %s', async (outcome, isHeld) => {
    await rig.request(['a']);
    await set('a', dead(`, request_hash = payload_hash, request_shape = '{}'`));
    await attempt('a', outcome);
    await redrive('a');
    expect(
      await rig.query('SELECT request_hash IS NOT NULL AS held, request_shape IS NOT NULL AS shaped FROM operations'),
    ).toEqual([{ held: isHeld, shaped: isHeld }]);
  });

  it('looks at the attempts of the present step alone', async () => {
    await rig.request(['a'], { kind: 'steps' });
    await set('a', dead(`, request_hash = payload_hash, step = 1`));
    await attempt('a', 'accepted', 0);
    await attempt('a', 'not-sent', 1);
    await redrive('a');
    expect(await rig.query('SELECT request_hash FROM operations')).toEqual([{ request_hash: null }]);
  });

  it('lets a changed definition go when nothing was ever sent', async () => {
    await rig.request(['a']);
    await set('a', dead(`, request_hash = payload_hash`));
    await attempt('a', 'rejected');
    await redrive('a');
    const provider = new ScriptedProvider();
    await rig.worker({ provider }).workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(provider.calls).toHaveLength(1);
  });

  it.each([
    [`deadline = now() - interval '1 hour'`, {}, null],
    [`deadline = '2999-01-01T00:00:00Z'`, {}, '2999-01-01T00:00:00.000Z'],
    [`deadline = now() - interval '1 hour'`, { deadline: '2998-01-01T00:00:00Z' }, '2998-01-01T00:00:00.000Z'],
  ])('with %s and %j has the deadline %s', async (before, parts, after) => {
    await rig.request(['a']);
    await set('a', dead(`, ${before}`));
    expect((await redrive('a', 4, parts)).body).toMatchObject({ outcome: 'redriven', deadline: after });
  });

  it('refuses a deadline that has passed', async () => {
    await rig.request(['a']);
    await set('a', dead());
    expect(await redrive('a', 4, { deadline: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'deadline', rule: 'must be in the future' }] },
    });
    expect(await rig.states()).toEqual({ dead: 1 });
  });

  it.each<[string, () => Promise<void>]>([
    ['not-redrivable', async () => await set('a', `state = 'suppressed', state_reason = 'x', claim_seq = 4`)],
    ['not-redrivable', async () => await set('a', leased('calling'))],
    ['outdated', async () => await set('a', dead(', claim_seq = 5').replace('claim_seq = 4, ', ''))],
    ['scrubbed', async () => await set('a', dead(', scrubbed_at = now()'))],
    [
      'refused-at-arrival',
      async () => await set('a', `state = 'rejected', state_reason = 'x', claim_seq = 4, changed_at = created_at`),
    ],
    ['provider-not-configured', async () => await set('a', dead(`, provider = 'gone'`))],
  ])('refuses what is %s, by name', async (name, arrange) => {
    await rig.request(['a']);
    await arrange();
    const before = await rig.query('SELECT * FROM operations');
    expect(await redrive('a')).toMatchObject({ status: 409, body: { type: `/problems/${name}`, operationKey: 'a' } });
    expect(await rig.query('SELECT * FROM operations')).toEqual(before);
    expect(await auditRows(rig)).toEqual([]);
    expect(await rig.eventsOf('a')).toEqual([]);
  });

  it.each(['paused', 'completed', 'cancelled'])('refuses that of a campaign which is %s', async (state) => {
    await rig.campaign('c', ['a']);
    await set('a', dead());
    await rig.query(
      `UPDATE campaigns SET state = $1, ended_at = CASE WHEN $1 IN ('completed', 'cancelled') THEN now() END`,
      [state],
    );
    expect(await redrive('a')).toMatchObject({ status: 409, body: { type: '/problems/campaign-not-sending' } });
    expect(await rig.states()).toEqual({ dead: 1 });
  });

  it('queues that of a campaign which is sending, and not of an older revision', async () => {
    await rig.campaign('c', ['a', 'b']);
    await set('a', dead());
    await set('b', dead(', revision = 2'));
    expect(await redrive('a')).toMatchObject({ status: 200 });
    expect(await redrive('b')).toMatchObject({ status: 409, body: { type: '/problems/campaign-not-sending' } });
  });

  it('says 404 to what is not there', async () => {
    expect(await redrive('nobody')).toMatchObject({ status: 404 });
  });

  it('by two at once is done once', async () => {
    await rig.request(['a']);
    await set('a', dead());
    const statuses = await Promise.all([redrive('a'), redrive('a')]);
    expect(statuses.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
    expect(await rig.query('SELECT redriven FROM operations')).toEqual([{ redriven: 1 }]);
  });
});

describe('POST /v1/operations/redrive', () => {
  it('starts many again, spread over time, with an outcome for each', async () => {
    const names = ['a', 'b', 'c', 'fine'];
    await rig.request(names);
    for (const name of ['a', 'b', 'c']) await set(name, dead());
    const operations = [...names, 'nobody'].map((operationKey) => ({ operationKey, claimNumber: 4 }));
    const { status, body } = await ground.post('/v1/operations/redrive', { reason: 'x', operations, perSecond: 0.1 });
    expect(status).toBe(200);
    expect(body['items']).toMatchObject([
      { operationKey: 'a', outcome: 'redriven', state: 'queued', claimNumber: 5 },
      { operationKey: 'b', outcome: 'redriven' },
      { operationKey: 'c', outcome: 'redriven' },
      { operationKey: 'fine', outcome: 'not-redrivable', state: 'queued', claimNumber: 0 },
      { operationKey: 'nobody', outcome: 'not-found' },
    ]);
    const rows = await rig.query<{ seconds: number }>(
      `SELECT extract(epoch FROM not_before - min(not_before) OVER ())::integer AS seconds FROM operations
       WHERE redriven = 1 ORDER BY operation_key`,
    );
    expect(rows.map(({ seconds }) => seconds)).toEqual([0, 10, 20]);
    expect(await auditRows(rig)).toHaveLength(3);
  });
});

describe('POST /v1/approvals', () => {
  const HASH = `sha256:${'a'.repeat(64)}`;
  const grant = { object: 'campaign:c', revision: 1, hash: HASH };

  it('approves a campaign, as an approval by Kafka does', async () => {
    await draft();
    await rig.query('UPDATE campaigns SET content_hash = $1', [HASH]);
    expect(await ground.post('/v1/approvals', { ...grant, approvedBy: 'editor:grace' })).toMatchObject({
      status: 200,
      body: {
        object: 'campaign:c',
        revision: 1,
        granted: true,
        hash: HASH,
        decidedBy: 'editor:grace',
        campaign: { campaignId: 'c', state: 'approved', contentHash: HASH },
      },
    });
    expect(await rig.eventsOf()).toEqual(['campaign.approved']);
    expect(await auditRows(rig)).toMatchObject([
      {
        actor: 'all',
        action: 'approval.grant',
        object: 'campaign:c',
        before: {},
        after: { granted: true, hash: HASH },
      },
    ]);
    expect(
      await ground.post('/v1/approvals/withdraw', { object: 'campaign:c', revision: 1, reason: 'wrong price' }),
    ).toMatchObject({ status: 200, body: { granted: false, decidedBy: 'all', campaign: { state: 'drafted' } } });
    expect(await auditRows(rig)).toMatchObject([
      {},
      { action: 'approval.withdraw', reason: 'wrong price', before: { granted: true }, after: { granted: false } },
    ]);
  });

  it('of another hash is kept and told, and approves nothing', async () => {
    await draft();
    expect(await ground.post('/v1/approvals', grant)).toMatchObject({
      status: 200,
      body: { granted: true, campaign: { state: 'drafted', contentHash: 'hash' } },
    });
    expect(await rig.eventsOf()).toEqual(['campaign.refused']);
  });

  it('before there is anything to approve is kept', async () => {
    expect(await ground.post('/v1/approvals', { ...grant, object: 'any name' })).toMatchObject({
      status: 200,
      body: { granted: true, decidedBy: 'all', campaign: null },
    });
  });

  it('gives way to a newer decision, and writes nothing then', async () => {
    await ground.post('/v1/approvals', grant);
    await rig.query(`UPDATE approvals SET fact_time = now() + interval '1 hour'`);
    const before = await rig.query('SELECT * FROM approvals');
    expect(
      await ground.post('/v1/approvals/withdraw', { object: 'campaign:c', revision: 1, reason: 'x' }),
    ).toMatchObject({
      status: 409,
      body: { type: '/problems/superseded', granted: true },
    });
    expect(await rig.query('SELECT * FROM approvals')).toEqual(before);
    expect(await auditRows(rig)).toHaveLength(1);
  });

  it.each([
    [{ ...grant, expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt', 'must be in the future'],
    [{ ...grant, hash: 'sha256:x' }, 'hash', 'must be sha256: and 64 lower-case hex digits'],
    [{ ...grant, revision: 0 }, 'revision', 'must be at least 1'],
    [{ ...grant, object: 'a\nb' }, 'object', 'must not hold control characters or lone surrogates'],
  ])('refuses %j', async (body, field, rule) => {
    expect(await ground.post('/v1/approvals', body)).toMatchObject({
      status: 400,
      body: { errors: [{ field, rule }] },
    });
    expect(await rig.query('SELECT FROM approvals')).toEqual([]);
  });
});

describe('scopes', () => {
  it.each([
    '/v1/operations/a/cancel',
    '/v1/operations/a/redrive',
    '/v1/operations/redrive',
    '/v1/approvals',
    '/v1/approvals/withdraw',
  ])('%s needs operate', async (url) => {
    for (const token of ['reader', 'requester'] as const)
      expect(await ground.post(url, {}, { token })).toMatchObject({ status: 403, body: { missingScope: 'operate' } });
  });
});
