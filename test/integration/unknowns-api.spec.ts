import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { operationId } from '../../src/operations/operation-id.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { auditRows, createGround, makeUnknown, type TokenName, type UnknownsGround } from './unknowns-ground.ts';

let ground: UnknownsGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await rig.reset());

type Item = Record<string, unknown>;

async function claimNumber(name: string): Promise<number> {
  return Number((await rig.operation(name)).claim_seq);
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);
const SENT = { as: 'sent', reason: 'asked them' };

/** Gives an operation a key that is no local part of an address. */
async function rename(name: string, key: string): Promise<void> {
  const id = operationId('demo', key);
  await rig.query('UPDATE attempts SET operation_id = $1', [id]);
  await rig.query('UPDATE operations SET operation_key = $1, operation_id = $2 WHERE operation_key = $3', [
    key,
    id,
    name,
  ]);
}

async function resolve(key: string, body: unknown, token: TokenName = 'operator') {
  return await ground.post(`/v1/operations/${encodeURIComponent(key)}/resolve`, body, token);
}

async function resume(name: string, token: TokenName = 'operator') {
  return await ground.post(`/v1/providers/${name}/resume`, { reason: 'new password' }, token);
}

async function stop(provider: string): Promise<void> {
  await rig.query(
    `INSERT INTO provider_stops (provider, code, diagnostic, until) VALUES ($1, 'smtp-535', 'refused', now())`,
    [provider],
  );
}

describe('POST /v1/operations/{key}/resolve', () => {
  it('resolves, and the operation then shows who did', async () => {
    await makeUnknown(rig, ['a']);
    await rename('a', 'order 17/ä');
    const seen = await claimNumber('order 17/ä');
    const { operation_id: operationId } = await rig.operation('order 17/ä');
    const { status, body } = await resolve('order 17/ä', { ...SENT, claimNumber: seen });
    expect({ status, body }).toEqual({
      status: 200,
      body: { operationKey: 'order 17/ä', operationId, state: 'accepted', claimNumber: seen + 1 },
    });
    const shown = await ground.ask(`/v1/operations/${encodeURIComponent('order 17/ä')}`, 'reader');
    expect(shown.body).toMatchObject({
      state: 'accepted',
      claimNumber: seen + 1,
      resolvedBy: 'person',
      onUnknown: 'hold',
      unknownSince: expect.any(String),
      doubled: false,
      overdue: false,
      evidence: [{ step: 'person', outcome: 'sent', decidedBy: 'operator', diagnostic: 'asked them' }],
      receipts: [],
    });
    expect(await auditRows(rig)).toMatchObject([{ actor: 'operator', object: 'order 17/ä' }]);
  });

  it('answers 409 with what is there now, and audits nothing', async () => {
    await makeUnknown(rig, ['a']);
    const seen = await claimNumber('a');
    const early = await resolve('a', { ...SENT, claimNumber: seen - 1 });
    expect(early).toMatchObject({ status: 409, body: { status: 409, state: 'unknown', claimNumber: seen } });
    await resolve('a', { ...SENT, claimNumber: seen });
    const again = await resolve('a', { ...SENT, claimNumber: seen });
    expect(again).toMatchObject({ status: 409, body: { state: 'accepted', claimNumber: seen + 1 } });
    expect(again.type).toContain('application/problem+json');
    expect(await auditRows(rig)).toHaveLength(1);
  });

  it.each([
    ['in the future', '2020-01-01T00:00:00Z'],
    ['at most 30 days ahead', '2999-01-01T00:00:00+02:00'],
  ])('wants until %s', async (rule, until) => {
    await makeUnknown(rig, ['a']);
    const body = { as: 'wait', reason: 'later', until, claimNumber: await claimNumber('a') };
    const answer = await resolve('a', body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'until', rule: `must be ${rule}` }] } });
    expect(await auditRows(rig)).toEqual([]);
  });

  it.each([
    ['reader', 403, { missingScope: 'operate', detail: 'the token lacks the scope operate' }],
    ['requester', 403, { missingScope: 'operate' }],
    ['other-operator', 404, {}],
  ] as const)('is not for %s', async (token, status, body) => {
    await makeUnknown(rig, ['a']);
    const answer = await resolve('a', { ...SENT, claimNumber: await claimNumber('a') }, token);
    expect(answer).toMatchObject({ status, body });
    expect(await rig.states()).toEqual({ unknown: 1 });
    expect(await auditRows(rig)).toEqual([]);
  });
});

describe('POST /v1/unknowns/resolve', () => {
  it('answers for each operation, in the order asked', async () => {
    await makeUnknown(rig, ['a', 'b']);
    const operations = [
      { operationKey: 'b', claimNumber: await claimNumber('b') },
      { operationKey: 'nobody', claimNumber: 1 },
      { operationKey: 'a', claimNumber: 99 },
    ];
    const { status, body } = await ground.post('/v1/unknowns/resolve', { as: 'not-sent', reason: 'x', operations });
    expect(status).toBe(200);
    expect(body['items']).toMatchObject([
      { operationKey: 'b', outcome: 'resolved', state: 'queued' },
      { operationKey: 'nobody', outcome: 'not-found' },
      { operationKey: 'a', outcome: 'outdated', state: 'unknown', claimNumber: await claimNumber('a') },
    ]);
    expect((await auditRows(rig)).map(({ object }) => object)).toEqual(['b']);
  });

  it('takes a thousand in one transaction', async () => {
    await rig.request(names(1000));
    await rig.query(`UPDATE operations SET state = 'unknown', unknown_since = now(), attempts = 1, claim_seq = 2`);
    const operations = names(1000).map((operationKey) => ({ operationKey, claimNumber: 2 }));
    const { body } = await ground.post('/v1/unknowns/resolve', { ...SENT, operations });
    expect(body['items']).toHaveLength(1000);
    expect(await rig.states()).toEqual({ accepted: 1000 });
    const written = await rig.query<{ xmin: string }>('SELECT DISTINCT xmin::text FROM audit');
    expect(written).toHaveLength(1);
    expect(await auditRows(rig)).toHaveLength(1000);
  });
});

describe('GET /v1/operations/{key}', () => {
  it('shows receipts without addresses', async () => {
    await makeUnknown(rig, ['a']);
    await rig.query(
      `INSERT INTO receipts (tenant_id, provider, receipt_id, effect_id, type, occurred_at, content, operation_id)
       SELECT tenant_id, 'main', 'r1', 'e1', 'bounced', now(), '{"email": "a@example.com"}', operation_id FROM operations`,
    );
    const { body } = await ground.ask('/v1/operations/a', 'reader');
    expect(body['receipts']).toEqual([
      { provider: 'main', receiptId: 'r1', type: 'bounced', occurredAt: expect.any(String), effectId: 'e1' },
    ]);
    expect(JSON.stringify(body)).not.toContain('@');
  });

  it.each([
    ['peer', 'accepted', 3700, true],
    ['peer', 'accepted', 3500, false],
    ['peer', 'delivered', 3700, false],
    ['silent', 'accepted', 3700, false],
  ])('of %s, %s for %i s: overdue %s', async (provider, state, seconds, overdue) => {
    await makeUnknown(rig, ['a']);
    await rig.query(`UPDATE operations SET provider = $1, state = $2, changed_at = now() - make_interval(secs => $3)`, [
      provider,
      state,
      seconds,
    ]);
    expect((await ground.ask('/v1/operations/a', 'reader')).body).toMatchObject({ overdue });
  });
});

describe('providers', () => {
  it('are listed with what stopped them, a tenant its own', async () => {
    await stop('main');
    await stop('private');
    const { body } = await ground.ask('/v1/providers', 'reader');
    expect(body).toEqual({
      items: [
        {
          name: 'main',
          kind: 'smtp',
          stopped: {
            since: expect.any(String),
            until: expect.any(String),
            code: 'smtp-535',
            diagnostic: 'refused',
          },
        },
        { name: 'peer', kind: 'kafka', stopped: null },
        { name: 'silent', kind: 'kafka', stopped: null },
      ],
    });
  });

  it('go on when a person lets them, once, with audit and events to all who use them', async () => {
    await stop('main');
    expect(await resume('main')).toMatchObject({ status: 200, body: { name: 'main', resumed: true } });
    expect(await resume('main')).toMatchObject({ status: 200, body: { name: 'main', resumed: false } });
    expect(await rig.query('SELECT FROM provider_stops')).toEqual([]);
    expect(await rig.eventsOf()).toEqual(['provider.resumed', 'provider.resumed']);
    expect(await auditRows(rig)).toMatchObject([
      {
        actor: 'operator',
        action: 'provider.resume',
        object: 'provider:main',
        reason: 'new password',
        before: { code: 'smtp-535' },
      },
    ]);
  });

  it.each([
    ['private', 'operator', 404],
    ['nothing', 'operator', 404],
    ['main', 'reader', 403],
  ] as const)('%s does not for %s', async (name, token, status) => {
    await stop('main');
    await stop('private');
    expect((await resume(name, token)).status).toBe(status);
    expect(await rig.query('SELECT FROM provider_stops')).toHaveLength(2);
    expect(await auditRows(rig)).toEqual([]);
  });
});

describe('GET /v1/audit', () => {
  it('is read newest first, in pages, of one object or all, and by its tenant alone', async () => {
    await makeUnknown(rig, names(5));
    for (const name of names(5)) {
      await ground.post(`/v1/operations/${name}/resolve`, { ...SENT, claimNumber: await claimNumber(name) });
    }
    const first = await ground.ask('/v1/audit?limit=3', 'reader');
    expect(first.body['items']).toMatchObject([{ object: 'n4' }, { object: 'n3' }, { object: 'n2' }]);
    const second = await ground.ask(`/v1/audit?limit=3&after=${String(first.body['next'])}`, 'reader');
    expect(second.body).toMatchObject({ items: [{ object: 'n1' }, { object: 'n0' }], next: null });
    const [entry] = (await ground.ask('/v1/audit?object=n2', 'reader')).body['items'] as Item[];
    expect(entry).toEqual({
      auditId: expect.stringMatching(/^\d+$/),
      at: expect.any(String),
      actor: 'operator',
      action: 'operation.resolve',
      object: 'n2',
      reason: 'asked them',
      before: { state: 'unknown', claimNumber: 1 },
      after: { state: 'accepted' },
    });
    expect((await ground.ask('/v1/audit', 'other-operator')).body).toEqual({ items: [], next: null });
    expect((await ground.ask('/v1/audit', 'decider')).status).toBe(403);
  });
});
