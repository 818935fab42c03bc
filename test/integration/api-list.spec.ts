import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { genericPlan } from '../support/generic-plan.ts';
import { createApiGround, type ApiGround, type TokenName } from './api-ground.ts';

let ground: ApiGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await rig.reset());

type Item = Record<string, unknown>;
interface Page {
  readonly items: Item[];
  readonly next: string | null;
}

const names = (count: number, prefix = 'n'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

async function list(query: string, token: TokenName = 'reader'): Promise<Page> {
  const { status, body } = await ground.get(`/v1/operations?${query}`, token);
  expect(body).toMatchObject({ items: expect.any(Array) });
  expect(status).toBe(200);
  return body as unknown as Page;
}

const keysOf = ({ items }: Page): string[] => items.map((item) => String(item['operationKey']));

/** All pages, and how many there were. */
async function all(query: string): Promise<{ keys: string[]; pages: number }> {
  const keys: string[] = [];
  let pages = 0;
  let after: string | null = null;
  do {
    const page: Page = await list(`${query}${after === null ? '' : `&after=${after}`}`);
    keys.push(...keysOf(page));
    after = page.next;
    pages += 1;
  } while (after !== null && pages < 100);
  return { keys, pages };
}

/** Puts operations into a state, as if they had been there for so many seconds. */
async function put(keys: readonly string[], state: string, seconds = 0): Promise<void> {
  await rig.query(
    `UPDATE operations SET state = $2, state_reason = 'because', claim_seq = 3, attempts = 2,
       unknown_since = CASE WHEN $2 = 'unknown' THEN now() - make_interval(secs => $3) END,
       claimed_by = CASE WHEN $2 IN ('claimed', 'calling') THEN gen_random_uuid() END,
       lease_until = CASE WHEN $2 IN ('claimed', 'calling') THEN now() + interval '1 minute' END,
       approval_object = CASE WHEN $2 = 'awaiting-approval' THEN 'offer' END,
       approval_revision = CASE WHEN $2 = 'awaiting-approval' THEN 1 END,
       changed_at = now() - make_interval(secs => $3) WHERE operation_key = ANY ($1)`,
    [keys, state, seconds],
  );
}

const mail = (to: string) => ({ operationKey: 'a', kind: 'email', request: { to, subject: 'x', text: 'x' } });

const INDEXED = [
  'suppressed',
  'rejected',
  'expired',
  'cancelled',
  'dead',
  'bounced',
  'complained',
  'awaiting-approval',
  'unknown',
  'claimed',
  'calling',
];

describe('GET /v1/operations', () => {
  it('shows the dead with the reason and the last attempt', async () => {
    await rig.request(['a']);
    await put(['a'], 'dead');
    await rig.query(
      `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, ended_at, outcome, code, diagnostic)
       SELECT tenant_id, operation_id, n, 'main', gen_random_uuid(), now(), 'not-sent', 'smtp-451', 'try ' || n
       FROM operations, generate_series(1, 2) n`,
    );
    const { items, next } = await list('state=dead');
    expect(next).toBeNull();
    expect(items).toEqual([
      {
        operationKey: 'a',
        operationId: (await rig.operation('a')).operation_id,
        kind: 'email',
        class: 'transactional',
        campaignId: null,
        provider: 'main',
        state: 'dead',
        reason: 'because',
        claimNumber: 3,
        attemptsCounted: 2,
        redriven: 0,
        effectId: null,
        notBefore: expect.any(String),
        deadline: null,
        createdAt: expect.any(String),
        changedAt: expect.any(String),
        scrubbedAt: null,
        lastAttempt: {
          startedAt: expect.any(String),
          endedAt: expect.any(String),
          outcome: 'not-sent',
          code: 'smtp-451',
          diagnostic: 'try 2',
        },
      },
    ]);
    expect(JSON.stringify(items)).not.toContain('@');
  });

  it.each(INDEXED)('goes through what is %s in pages, also where many have one time', async (state) => {
    await rig.request([...names(7), 'old', 'fine']);
    await put(names(7), state, 60);
    await put(['old'], state, 3600);
    const { keys } = await all(`state=${state}&limit=2`);
    expect(keys.toSorted()).toEqual([...names(7), 'old'].toSorted());
    expect(keys[0]).toBe('old');
    expect(keysOf(await list(`state=${state}&olderThanSeconds=1800`))).toEqual(['old']);
    expect(keysOf(await list(`state=${state}&provider=crm`))).toEqual([]);
    expect(keysOf(await list(`state=${state}&provider=main&limit=100`))).toHaveLength(8);
  });

  it('goes through a campaign in pages, in any state', async () => {
    await rig.campaign('c', names(7, 'c'));
    await rig.campaign('d', names(3, 'd'));
    await put(['c1', 'c4'], 'accepted', 3600);
    expect((await all('campaign=c&limit=2')).keys).toEqual(names(7, 'c'));
    expect((await all('campaign=c&state=accepted&limit=1')).keys).toEqual(['c1', 'c4']);
    expect((await all('campaign=c&state=queued')).keys).toHaveLength(5);
    expect((await all('campaign=c&olderThanSeconds=60')).keys).toEqual(['c1', 'c4']);
    expect((await all('campaign=c&provider=crm')).keys).toEqual([]);
    await put(['c2', 'd2'], 'dead');
    expect((await all('campaign=c&state=dead')).keys).toEqual(['c2']);
    expect(Buffer.from(String((await list('campaign=c&limit=2')).next), 'base64url').toString()).not.toContain('@');
  });

  it('looks at 1000 rows for a page, and goes on where it stopped', async () => {
    await rig.campaign('c', names(2500, 'c'));
    await put(['c2499'], 'accepted');
    const first = await list('campaign=c&state=accepted');
    expect(first.items).toEqual([]);
    expect(first.next).not.toBeNull();
    expect(await all('campaign=c&state=accepted')).toEqual({ keys: ['c2499'], pages: expect.any(Number) });
    expect((await all('campaign=c&state=accepted')).pages).toBe(3);
  });

  it('shows what goes next in a queue, without pages', async () => {
    await rig.request(names(3));
    await rig.campaign('c', ['of-campaign']);
    await rig.query(`UPDATE operations SET priority = 9 WHERE operation_key = 'n2'`);
    const page = await list('state=queued&provider=main&limit=2');
    expect(page.next).toBeNull();
    expect(page.items).toHaveLength(2);
    expect(keysOf(page)[0]).toBe('n2');
  });

  it.each([
    '',
    'state=queued',
    'state=accepted',
    'state=delivered&provider=main',
    'provider=main',
    'olderThanSeconds=5',
  ])('refuses what no index serves: %s', async (query) => {
    expect(await ground.get(`/v1/operations?${query}`)).toMatchObject({
      status: 400,
      body: { type: '/problems/filters-not-allowed', allowed: expect.arrayContaining([expect.any(String)]) },
    });
  });

  it('refuses the position of another list', async () => {
    await rig.campaign('c', names(3, 'c'));
    const { next } = await list('campaign=c&limit=1');
    expect(await ground.get(`/v1/operations?state=dead&after=${next}`)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'after' }] },
    });
    const forged = Buffer.from(`ended//00000000-0000-0000-0000-000000000000`).toString('base64url');
    expect((await ground.get(`/v1/operations?state=dead&after=${forged}`)).status).toBe(400);
  });

  it('shows a tenant nothing of another', async () => {
    await rig.request(['mine']);
    await rig.request(['theirs'], { tenantId: 'other' });
    await put(['mine', 'theirs'], 'dead');
    expect(keysOf(await list('state=dead'))).toEqual(['mine']);
    expect(keysOf(await list('state=dead', 'other-all'))).toEqual(['theirs']);
  });
});

describe('an operation by another name', () => {
  it('is found by its id', async () => {
    await rig.request(['a']);
    const { operation_id: id } = await rig.operation('a');
    expect(await ground.get(`/v1/operations/by-id/${id}`)).toMatchObject({ status: 200, body: { operationKey: 'a' } });
    expect(await ground.get(`/v1/operations/by-id/${id.toUpperCase()}`)).toMatchObject({ status: 200 });
    expect(await ground.get(`/v1/operations/by-id/${id}`, 'other-all')).toMatchObject({ status: 404 });
    expect(await ground.get('/v1/operations/by-id/a')).toMatchObject({ status: 404 });
  });

  it('is found by the id of its effect', async () => {
    await rig.request(['a', 'b']);
    await rig.query(`UPDATE operations SET effect_id = '<x/1@example.org>' WHERE operation_key = 'a'`);
    const path = `/v1/operations/by-effect/${encodeURIComponent('<x/1@example.org>')}`;
    expect(await ground.get(path)).toMatchObject({ status: 200, body: { items: [{ operationKey: 'a' }] } });
    expect(await ground.get(path, 'other-all')).toMatchObject({ status: 200, body: { items: [] } });
  });
});

describe('GET /v1/stats', () => {
  it('counts what is in motion and what has ended', async () => {
    await rig.request(['q1', 'q2', 'dead1', 'sent1', 'unknown1', 'person1', 'calling1', 'wait1']);
    await rig.campaign('c', ['q3']);
    await rig.request(['theirs'], { tenantId: 'other' });
    await put(['dead1'], 'dead');
    await put(['sent1'], 'accepted');
    await put(['unknown1', 'person1'], 'unknown', 600);
    await put(['calling1'], 'calling', 60);
    await put(['wait1'], 'awaiting-approval', 3600);
    await rig.query(`UPDATE operations SET resolve_at = 'infinity' WHERE operation_key = 'person1'`);
    await rig.query(`UPDATE operations SET not_before = now() - interval '5 minutes' WHERE operation_key = 'q3'`);
    await rig.query(`TRUNCATE conflicts`);
    await rig.query(`INSERT INTO conflicts (tenant_id, requests, told_at) VALUES
      ('demo', 2, now()), ('demo', 3, now() - interval '23 hours'), ('demo', 100, now() - interval '25 hours'), ('other', 7, now())`);
    const { body } = await ground.get('/v1/stats', 'reader');
    expect(body).toMatchObject({
      operations: {
        queued: 3,
        'awaiting-approval': 1,
        claimed: 0,
        calling: 1,
        unknown: 2,
        dead: 1,
        accepted: 1,
        delivered: 0,
      },
      unknownNeedingPerson: 1,
      conflictsLastDay: 5,
      inMotionCountedAt: expect.any(String),
      endedCountedAt: expect.any(String),
    });
    const oldest = body['oldestSeconds'] as Record<string, number | null>;
    expect(oldest).toEqual({
      'awaiting-approval': expect.any(Number),
      queued: expect.any(Number),
      claimed: null,
      calling: expect.any(Number),
      unknown: expect.any(Number),
    });
    expect(oldest['queued']).toBeGreaterThanOrEqual(300);
    expect(oldest['unknown']).toBeGreaterThanOrEqual(600);
  });

  it('counts the conflicts that were told, and forgets old ones', async () => {
    await rig.query(`TRUNCATE conflicts`);
    await rig.query(
      `INSERT INTO conflicts (tenant_id, requests, told_at) SELECT 'demo', 1, now() - interval '3 days' FROM generate_series(1, 12)`,
    );
    const operations = [mail('a@example.com'), mail('b@example.com'), mail('c@example.com')];
    await ground.post('/v1/operations', { operations });
    expect(await rig.query('SELECT requests FROM conflicts ORDER BY told_at DESC')).toEqual([
      { requests: 2 },
      { requests: 1 },
      { requests: 1 },
    ]);
  });
});

const BY_KEY_OR_ID = 'operations_(?:pkey|key)';

describe('each statement goes by an index, also when it was planned while the tables were empty', () => {
  it.each([
    ['operations/list-operations/walk-ended.sql', 'operations_ended_badly', 'ROW'],
    ['operations/list-operations/walk-awaiting.sql', 'operations_awaiting_by_time', 'ROW'],
    ['operations/list-operations/walk-unknown.sql', 'operations_unknown', 'ROW'],
    ['operations/list-operations/walk-leased.sql', 'operations_leased', 'lease_until'],
    ['operations/list-operations/walk-campaign.sql', 'operations_one_per_recipient', 'address_key >'],
    ['operations/list-operations/walk-queue.sql', 'operations_queued', 'provider ='],
    ['operations/list-operations/read-listed.sql', 'operations_pkey', 'operation_id ='],
    ['operations/list-operations/find-by-effect.sql', 'operations_by_effect', 'effect_id ='],
    ['operations/unknowns/read-operation.sql', BY_KEY_OR_ID, 'operation_(?:id|key) ='],
    ['operations/unknowns/find-key.sql', 'operations_pkey', 'operation_id ='],
    ['operations/cancel-operations/find-state.sql', BY_KEY_OR_ID, 'operation_(?:id|key) ='],
    ['operations/redrive-operations/lock-operations.sql', BY_KEY_OR_ID, 'operation_(?:id|key) ='],
    ['operations/redrive-operations/find-campaigns-of.sql', BY_KEY_OR_ID, 'operation_(?:id|key) ='],
    ['operations/redrive-operations/lock-campaigns.sql', 'campaigns_pkey', 'campaign_id ='],
    ['operations/redrive-operations/redrive-operations.sql', 'operations_pkey', 'operation_id ='],
    ['operations/steps/list-checkpoints.sql', 'checkpoints_pkey', 'operation_id ='],
    ['operations/operation-stats/count-in-motion.sql', 'operations_queued', 'campaign_id'],
    ['operations/operation-stats/count-in-motion.sql', 'operations_awaiting_by_time', 'tenant_id ='],
    ['operations/operation-stats/count-in-motion.sql', 'operations_unknown', 'tenant_id ='],
    ['operations/operation-stats/count-in-motion.sql', 'conflicts_by_tenant', 'told_at >'],
    ['operations/conflicts/note-conflicts.sql', 'conflicts_by_tenant', 'told_at <'],
    ['approvals/read-approval.sql', 'approvals_pkey', 'revision ='],
    ['tenants/token-wait.sql', 'token_rates_pkey', 'token_name ='],
  ])('%s by %s', async (file, index, condition) => {
    const plan = await genericPlan(rig, file);
    expect(plan).toMatch(
      new RegExp(`Index (?:Only )?Scan (?:Backward )?using ${index} .*\n *Index Cond: .*${condition}`),
    );
    expect(plan).not.toContain('Seq Scan');
    // A walk is in the order of its index: sorting would mean to read all of it first.
    expect(/walk-(?!leased)/.test(file) && plan.includes('Sort')).toBe(false);
  });

  it('all that has ended is counted in the order of the table', async () => {
    const plan = await genericPlan(rig, 'operations/operation-stats/count-ended.sql');
    expect(plan).toContain('Seq Scan on operations');
    expect(plan).not.toContain('Index');
  });
});
