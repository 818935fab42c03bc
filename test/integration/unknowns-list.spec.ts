import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { createGround, makeUnknown, type TokenName, type UnknownsGround } from './unknowns-ground.ts';

let ground: UnknownsGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createGround(inject('databaseUrl'), inject('templateDatabase'));
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await rig.reset());

type Item = Record<string, unknown>;

async function list(query = '', token: TokenName = 'reader'): Promise<{ items: Item[]; next: string | null }> {
  const { status, body } = await ground.ask(`/v1/unknowns${query}`, token);
  expect(status).toBe(200);
  return body as { items: Item[]; next: string | null };
}

const keysOf = ({ items }: { items: Item[] }): unknown[] => items.map((item) => item['operationKey']);

/** Unknown since so many seconds. */
async function age(name: string, seconds: number): Promise<void> {
  await rig.query(`UPDATE operations SET unknown_since = now() - make_interval(secs => $2) WHERE operation_key = $1`, [
    name,
    seconds,
  ]);
}

async function claimNumber(name: string): Promise<number> {
  return Number((await rig.operation(name)).claim_seq);
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

describe('GET /v1/unknowns', () => {
  it('tells what was tried, what may still tell, and no address', async () => {
    const worker = await makeUnknown(rig, ['a']);
    await worker.resolveOnce();
    await age('a', 30 * 86_400);
    const page = await list();
    expect(page).toEqual({
      items: [
        {
          operationKey: 'a',
          operationId: (await rig.operation('a')).operation_id,
          claimNumber: await claimNumber('a'),
          campaignId: null,
          provider: 'main',
          unknownSince: expect.stringMatching(/^\d{4}-.*Z$/),
          ageSeconds: expect.toSatisfy((seconds: number) => seconds >= 30 * 86_400 && seconds < 31 * 86_400),
          onUnknown: 'hold',
          needsPerson: true,
          nextLookAt: null,
          reason: 'held: no more evidence is expected',
          attempts: {
            number: 1,
            startedAt: expect.any(String),
            outcome: 'ambiguous',
            code: 'timeout',
            diagnostic: 'no answer in time',
          },
          tried: [
            {
              at: expect.any(String),
              step: 'policy',
              outcome: 'hold',
              code: null,
              diagnostic: 'no more evidence is expected',
              decidedBy: null,
            },
          ],
          missing: ['nothing'],
        },
      ],
      next: null,
    });
    expect(JSON.stringify(page)).not.toContain('@');
  });

  it('says that a receipt may come, when the provider gives some, and when it is looked at', async () => {
    await makeUnknown(rig, ['a']);
    await rig.query(`UPDATE operations SET provider = 'peer', resolve_at = now() + interval '1 hour'`);
    const { items } = await list();
    expect(items).toMatchObject([{ needsPerson: false, missing: ['receipt-pending'] }]);
    expect(new Date(String(items[0]?.['nextLookAt'])).getTime()).toBeGreaterThan(Date.now());
  });

  it('goes through all of them in pages, oldest first, also where many have one time', async () => {
    await makeUnknown(rig, names(7));
    await rig.query(`UPDATE operations SET unknown_since = '2026-01-01T00:00:00.123456Z'`);
    await rig.query(
      `UPDATE operations SET unknown_since = '2026-01-01T00:00:00.123455Z' WHERE operation_key IN ('n3', 'n5')`,
    );
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page = await list(`?limit=2${after === null ? '' : `&after=${after}`}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...keysOf(page).map(String));
      after = page.next;
    } while (after !== null);
    expect(seen.toSorted()).toEqual(names(7));
    expect(seen.slice(0, 2).toSorted()).toEqual(['n3', 'n5']);
  });

  it('shows what is asked for: by provider, campaign and age', async () => {
    await makeUnknown(rig, ['elsewhere', 'old', 'young']);
    await rig.query(`UPDATE operations SET provider = 'peer' WHERE operation_key = 'elsewhere'`);
    await rig.campaign('c', ['of-campaign']);
    await rig.query(
      `UPDATE operations SET state = 'unknown', unknown_since = now(), attempts = 1, claim_seq = 2
       WHERE operation_key = 'of-campaign'`,
    );
    await age('old', 3600);
    expect(keysOf(await list())).toHaveLength(4);
    expect(keysOf(await list('?provider=peer'))).toEqual(['elsewhere']);
    expect(keysOf(await list('?campaign=c'))).toEqual(['of-campaign']);
    expect(keysOf(await list('?olderThanSeconds=3600'))).toEqual(['old']);
    expect(keysOf(await list('?olderThanSeconds=3600&provider=peer'))).toEqual([]);
  });

  it('shows a tenant nothing of another', async () => {
    await makeUnknown(rig, ['mine']);
    await makeUnknown(rig, ['theirs'], { tenantId: 'other' });
    expect(keysOf(await list())).toEqual(['mine']);
    expect(keysOf(await list('', 'other-operator'))).toEqual(['theirs']);
  });
});

const BY_KEY_OR_ID = 'operations_(?:pkey|key)';

describe('each statement goes by an index, also when it was planned while the tables were empty', () => {
  it.each([
    ['operations/unknowns/list-unknowns.sql', 'operations_unknown', 'ROW'],
    ['operations/unknowns/lock-operations.sql', BY_KEY_OR_ID, 'operation_(?:id|key) ='],
    ['operations/unknowns/read-operation.sql', BY_KEY_OR_ID, 'operation_(?:id|key) ='],
    ['operations/unknowns/read-tries.sql', 'attempts_pkey', 'operation_id ='],
    ['operations/unknowns/read-steps.sql', 'evidence_pkey', 'operation_id ='],
    ['operations/unknowns/read-receipts.sql', 'receipts_by_operation', 'operation_id ='],
    ['audit/list-audit.sql', 'audit_pkey', 'audit_id <'],
    ['audit/list-audit-of-object.sql', 'audit_by_object', 'audit_id <'],
    ['api/read-provider-stops.sql', 'provider_stops_pkey', 'provider ='],
  ])('%s by %s', async (file, index, condition) => {
    const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').replaceAll(/--[^\n]*/g, '');
    const order: string[] = [];
    const positional = text.replaceAll(/(?<![:\w]):([a-z_]+)/g, (_, name: string) => {
      return `$${order.includes(name) ? order.indexOf(name) + 1 : order.push(name)}`;
    });
    const plan = await rig.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${positional}`);
    const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(lines).toMatch(new RegExp(`Index Scan (?:Backward )?using ${index} .*\n *Index Cond: .*${condition}`));
    expect(lines).not.toContain('Seq Scan');
  });
});
