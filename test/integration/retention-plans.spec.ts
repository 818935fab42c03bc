import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());

const src = new URL('../../src/', import.meta.url);
const ofFolders = ['retention', 'erasure'].flatMap((folder) =>
  readdirSync(new URL(folder, src))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => `${folder}/${file}`),
);
const others = [
  'operations/request-operations/withdraw-forgotten.sql',
  'operations/request-operations/find-too-old.sql',
  'operations/cancel-operations/insert-cancelled.sql',
  'receipts/store-receipts.sql',
];
/** Reads the one that is first in an index over the few that are open. */
const FIRST_OF_ALL = 'erasure/next-erasure.sql';

async function planOf(file: string): Promise<string[]> {
  const text = readFileSync(new URL(file, src), 'utf8').replaceAll(/--[^\n]*/g, '');
  const order: string[] = [];
  const positional = text.replaceAll(/(?<![:\w]):([a-z_]+)/g, (_, name: string) => {
    return `$${order.includes(name) ? order.indexOf(name) + 1 : order.push(name)}`;
  });
  const plan = await rig.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${positional}`);
  return plan.map((row) => row['QUERY PLAN']);
}

/** Scans of tables that look at more than they were asked for: without an index, or by the tenant alone. */
function walksOf(plan: readonly string[]): string[] {
  return plan.filter((line, index) => {
    if (/Seq Scan|Bitmap/.test(line)) return true;
    if (!/Index (?:Only )?Scan/.test(line)) return false;
    const condition = /Index Cond: (.*)/.exec(plan[index + 1] ?? '')?.[1];
    return condition === undefined || /^\(tenant_id = [^()]*\)$/.test(condition);
  });
}

it.each([...ofFolders, ...others].filter((file) => file !== FIRST_OF_ALL))(
  '%s goes through no table, also when it was planned while the tables were empty',
  async (file) => {
    expect(walksOf(await planOf(file))).toEqual([]);
  },
);

it('the next erasure is the first of an index over those that are open', async () => {
  expect((await planOf(FIRST_OF_ALL)).join('\n')).toMatch(/^Limit .*\n.*LockRows.*\n.*Index Scan using erasures_open/);
});

it('a walk would be seen', () => {
  const byTenant = ['  ->  Index Scan using operations_pkey on operations', '        Index Cond: (tenant_id = $1)'];
  expect(walksOf(byTenant)).toHaveLength(1);
  expect(walksOf(['Seq Scan on operations'])).toHaveLength(1);
  expect(walksOf(['Index Scan using erasures_open on erasures', '  Filter: true'])).toHaveLength(1);
});
