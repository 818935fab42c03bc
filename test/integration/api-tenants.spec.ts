import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { NOTHING_ERASED } from '../../src/erasure/erasure.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { openApi } from '../support/openapi-judge.ts';
import { createApiGround, type Answer, type ApiGround } from './api-ground.ts';
import { makeUnknown } from './unknowns-ground.ts';

let ground: ApiGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => {
  await rig.reset();
  await rig.query('TRUNCATE erasures, token_rates, conflicts');
  await fill();
});

const SECRET = 'secret-of-demo';
const HASH = `sha256:${'a'.repeat(64)}`;
const EFFECT = `effect-${SECRET}`;
const ERASURE = '11111111-1111-4111-8111-111111111111';
const unknownKey = `unknown-${SECRET}`;
const deadKey = `dead-${SECRET}`;
const queuedKey = `queued-${SECRET}`;

/** The tenant demo has one of everything that a route speaks of. */
async function fill(): Promise<void> {
  await makeUnknown(rig, [unknownKey]);
  await rig.request([deadKey, queuedKey]);
  await rig.query(
    `UPDATE operations SET state = 'dead', state_reason = $2, claim_seq = 4, effect_id = $3,
       changed_at = now() + interval '1 second' WHERE operation_key = $1`,
    [deadKey, SECRET, EFFECT],
  );
  await rig.campaign(`campaign-${SECRET}`, [`c-${SECRET}`]);
  await rig.query(
    `INSERT INTO approvals (tenant_id, object, revision, hash, granted, decided_by, fact_time)
     VALUES ('demo', $1, 1, $2, true, 'grace', now() - interval '1 hour')`,
    [`object-${SECRET}`, HASH],
  );
  await rig.query(
    `INSERT INTO audit (tenant_id, actor, action, object, reason) VALUES ('demo', 'all', 'operation.cancel', $1, $1)`,
    [deadKey],
  );
  await rig.query(
    `INSERT INTO erasures (tenant_id, erasure_id, requested_by, reason, subscriber_ids, address_keys, report)
     VALUES ('demo', $1, 'all', $2, '{}', '{}', $3)`,
    [ERASURE, SECRET, JSON.stringify(NOTHING_ERASED)],
  );
  await rig.query(
    `INSERT INTO subscribers (tenant_id, subscriber_id, status, email, address_send, address_key, key_version, fact_time)
     VALUES ('demo', $1, 'confirmed', $2, $2, $2, 1, now())`,
    [`s-${SECRET}`, `${SECRET}@example.com`],
  );
  await rig.query(`INSERT INTO provider_stops (provider, code, diagnostic, until) VALUES ('crm', 'x', $1, now())`, [
    SECRET,
  ]);
}

/** All that belongs to demo, to compare. */
async function everything(): Promise<string> {
  const tables = [
    'operations',
    'operation_requests',
    'attempts',
    'evidence',
    'campaigns',
    'approvals',
    'audit',
    'erasures',
    'subscribers',
    'conflicts',
  ];
  const rows = await Promise.all(
    tables.map(async (table) => await rig.query(`SELECT * FROM ${table} t WHERE tenant_id = 'demo' ORDER BY t::text`)),
  );
  return JSON.stringify([rows, await rig.query('SELECT * FROM provider_stops')]);
}

interface Try {
  readonly url: string;
  readonly body?: unknown;
}

const mail = { kind: 'email', request: { to: 'x@example.com', subject: 'x', text: 'x' } };
const operations = [
  { operationKey: deadKey, claimNumber: 4 },
  { operationKey: unknownKey, claimNumber: 1 },
];

/** What another tenant tries on each route that needs a token, with names that are demo's. */
const TRIES: Readonly<Record<string, readonly Try[]>> = {
  'POST /v1/operations': [{ url: '/v1/operations', body: { ...mail, operationKey: deadKey } }],
  'GET /v1/operations': [
    { url: '/v1/operations?state=dead' },
    { url: '/v1/operations?state=unknown' },
    { url: `/v1/operations?campaign=campaign-${SECRET}` },
    { url: '/v1/operations?state=queued&provider=main' },
  ],
  'GET /v1/operations/{key}': [{ url: `/v1/operations/${deadKey}` }],
  'GET /v1/operations/by-id/{operationId}': [{ url: '/v1/operations/by-id/{id}' }],
  'GET /v1/operations/by-effect/{effectId}': [{ url: `/v1/operations/by-effect/${EFFECT}` }],
  'POST /v1/operations/{key}/resolve': [
    { url: `/v1/operations/${unknownKey}/resolve`, body: { as: 'sent', reason: 'x', claimNumber: 1 } },
  ],
  'POST /v1/operations/{key}/cancel': [{ url: `/v1/operations/${queuedKey}/cancel`, body: { reason: 'x' } }],
  'POST /v1/operations/{key}/redrive': [
    { url: `/v1/operations/${deadKey}/redrive`, body: { reason: 'x', claimNumber: 4 } },
  ],
  'POST /v1/operations/redrive': [{ url: '/v1/operations/redrive', body: { reason: 'x', operations } }],
  'GET /v1/stats': [{ url: '/v1/stats' }],
  'GET /v1/unknowns': [{ url: '/v1/unknowns' }, { url: `/v1/unknowns?campaign=campaign-${SECRET}` }],
  'POST /v1/unknowns/resolve': [{ url: '/v1/unknowns/resolve', body: { as: 'sent', reason: 'x', operations } }],
  'POST /v1/approvals': [
    { url: '/v1/approvals', body: { object: `campaign:campaign-${SECRET}`, revision: 1, hash: HASH } },
  ],
  'POST /v1/approvals/withdraw': [
    { url: '/v1/approvals/withdraw', body: { object: `object-${SECRET}`, revision: 1, reason: 'x' } },
    { url: '/v1/approvals/withdraw', body: { object: `campaign:campaign-${SECRET}`, revision: 1, reason: 'x' } },
  ],
  'GET /v1/campaigns/{id}': [{ url: `/v1/campaigns/campaign-${SECRET}` }],
  'GET /v1/providers': [{ url: '/v1/providers' }],
  'POST /v1/providers/{name}/resume': [{ url: '/v1/providers/crm/resume', body: { reason: 'x' } }],
  'GET /v1/audit': [{ url: '/v1/audit' }, { url: `/v1/audit?object=${deadKey}` }],
  'POST /v1/erasures': [
    { url: '/v1/erasures', body: { email: `${SECRET}@example.com`, reason: 'x' } },
    { url: '/v1/erasures', body: { subscriberId: `s-${SECRET}`, reason: 'x' } },
  ],
  'GET /v1/erasures/{erasureId}': [{ url: `/v1/erasures/${ERASURE}` }],
};

const ROUTES = Object.entries(openApi.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).flatMap(([verb, { security }]) =>
    security.length > 0 ? [`${verb.toUpperCase()} ${path}`] : [],
  ),
);

async function attempt(route: string, { url, body }: Try, token: 'all' | 'other-all'): Promise<Answer> {
  const { operation_id: id } = await rig.operation(deadKey);
  const [method = 'GET'] = route.split(' ');
  return await ground.call(method, url.replace('{id}', id), { token, ...(body === undefined ? {} : { body }) });
}

/** What was not in the question. */
function leaked({ body }: Answer, { url, body: asked }: Try): boolean {
  const question = `${decodeURIComponent(url)} ${JSON.stringify(asked ?? null)}`;
  return [...JSON.stringify(body).matchAll(/[\w-]*secret-of-demo[\w-]*/g)].some(([word]) => !question.includes(word));
}

describe('another tenant', () => {
  it.each(ROUTES)('learns nothing and changes nothing by %s', async (route) => {
    const tries = TRIES[route] ?? [];
    expect(tries).not.toEqual([]);
    const before = await everything();
    for (const each of tries) {
      const answer = await attempt(route, each, 'other-all');
      expect(answer.status).toBeLessThan(500);
      expect(leaked(answer, each)).toBe(false);
    }
    expect(await everything()).toBe(before);
  });

  it('has figures of its own', async () => {
    const { body } = await attempt('GET /v1/stats', { url: '/v1/stats' }, 'other-all');
    expect(Object.values(body['operations'] as Record<string, number>).every((count) => count === 0)).toBe(true);
  });
});

describe('the tenant itself', () => {
  // Else the tries above would show nothing.
  it.each(ROUTES.filter((route) => !route.includes('/v1/audit') && !route.includes('/v1/stats')))(
    'sees or changes something by %s',
    async (route) => {
      const before = await everything();
      const answers = await Promise.all((TRIES[route] ?? []).map(async (each) => await attempt(route, each, 'all')));
      const saw = answers.some(
        ({ body }) => JSON.stringify(body).includes(SECRET) || JSON.stringify(body).includes(ERASURE),
      );
      expect(saw || (await everything()) !== before).toBe(true);
    },
  );
});

describe('POST /v1/erasures', () => {
  it('begins an erasure and shows how far it is', async () => {
    const answer = await ground.post('/v1/erasures', { email: `${SECRET}@example.com`, reason: 'asked for by letter' });
    expect(answer.status).toBe(202);
    const id = String(answer.body['erasureId']);
    expect(await ground.get(`/v1/erasures/${id}`)).toMatchObject({
      status: 200,
      body: { erasureId: id, endedAt: null, report: { subscribers: 1, operations: 0 } },
    });
    expect(await rig.query('SELECT status, email FROM subscribers')).toEqual([{ status: 'deleted', email: null }]);
  });

  it.each([
    [{ reason: 'x' }, '', 'must have email or subscriberId, and not both'],
    [{ reason: 'x', email: 'a@b.example', subscriberId: 's' }, '', 'must have email or subscriberId, and not both'],
    [{ reason: 'x', email: 'ada@localhost' }, 'email', 'the domain has only one label'],
  ])('refuses %j', async (body, field, rule) => {
    expect(await ground.post('/v1/erasures', body)).toMatchObject({ status: 400, body: { errors: [{ field, rule }] } });
  });
});
