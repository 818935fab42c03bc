import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { pageByPage } from '../../src/retention/page-by-page.ts';
import { scrubPayloads } from '../../src/retention/scrub-payloads.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import {
  endedCampaign,
  FINAL,
  forget,
  furnish,
  IN_MOTION,
  PAYLOAD_DAYS,
  put,
  RETENTION,
  rowsKept,
  scrub,
} from './retention-ground.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

const names = (count: number, of = 'n'): string[] =>
  Array.from({ length: count }, (_, index) => `${of}${String(index).padStart(3, '0')}`);

async function scrubbed(): Promise<string[]> {
  const rows = await rig.query<{ operation_key: string }>(
    `SELECT operation_key FROM operations o
     WHERE scrubbed_at IS NOT NULL AND address_key = 'scrubbed:' || operation_id
       AND NOT EXISTS (SELECT FROM operation_requests r WHERE r.operation_id = o.operation_id)
     ORDER BY operation_key`,
  );
  return rows.map((row) => row.operation_key);
}

async function untouched(): Promise<string[]> {
  const rows = await rig.query<{ operation_key: string }>(
    `SELECT operation_key FROM operations JOIN operation_requests USING (tenant_id, operation_id)
     WHERE scrubbed_at IS NULL AND address_key = operation_key || '@example.com' ORDER BY operation_key`,
  );
  return rows.map((row) => row.operation_key);
}

describe('payloads of single operations', () => {
  it('go when the operation ended long enough ago, and never of one that is unknown or in motion', async () => {
    await rig.request([...FINAL, ...IN_MOTION, 'young']);
    for (const state of [...FINAL, ...IN_MOTION]) await put(rig, state, state, PAYLOAD_DAYS + 1);
    await put(rig, 'young', 'accepted', PAYLOAD_DAYS - 1);
    await scrub(rig);
    expect(await scrubbed()).toEqual([...FINAL].toSorted());
    expect(await untouched()).toEqual([...IN_MOTION, 'young'].toSorted());
  });

  it('are the request, the address, results and contents of receipts; key, hash, state and attempts stay', async () => {
    await rig.request(['a']);
    await furnish(rig, 'a');
    await put(rig, 'a', 'accepted', PAYLOAD_DAYS + 1);
    const before = await rig.operation('a');
    await scrub(rig);
    const [row] = await rig.query(
      `SELECT o.operation_key, o.state, length(o.payload_hash) AS hash, a.diagnostic, c.result, r.content, r.type
       FROM operations o JOIN attempts a USING (tenant_id, operation_id) JOIN checkpoints c USING (tenant_id, operation_id)
       JOIN receipts r USING (tenant_id, operation_id)`,
    );
    expect(row).toEqual({
      operation_key: 'a',
      state: 'accepted',
      hash: 32,
      diagnostic: 'said so',
      result: null,
      content: {},
      type: 'accepted',
    });
    expect(await scrubbed()).toEqual(['a']);
    expect(await rig.operation('a')).toMatchObject({ claim_seq: before.claim_seq, state_reason: 'by a test' });
  });

  it('go in pages, by two replicas at once', async () => {
    await rig.request(names(25));
    for (const name of names(25)) await put(rig, name, 'accepted', PAYLOAD_DAYS + 1);
    const pages = await Promise.all([scrub(rig, { pageSize: 3 }), scrub(rig, { pageSize: 3 })]);
    expect(await scrubbed()).toEqual(names(25));
    expect(pages[0] + pages[1]).toBeGreaterThanOrEqual(9);
  });

  it('of another tenant are not touched', async () => {
    await rig.request(['theirs'], { tenantId: 'other' });
    await put(rig, 'theirs', 'accepted', 1000);
    await scrub(rig);
    expect(await untouched()).toEqual(['theirs']);
  });

  it('of one that is locked wait for the next sweep, and hold up no other', async () => {
    await rig.request(['a', 'b']);
    for (const name of ['a', 'b']) await put(rig, name, 'accepted', PAYLOAD_DAYS + 1);
    await rig.inTransaction(async (tx) => {
      await tx.query(`SELECT FROM operations WHERE operation_key = 'a' FOR NO KEY UPDATE`);
      await scrub(rig);
    });
    expect(await scrubbed()).toEqual(['b']);
    await scrub(rig);
    expect(await scrubbed()).toEqual(['a', 'b']);
  });
});

const marked = async (campaign: string): Promise<boolean> =>
  (await rig.query(`SELECT FROM campaigns WHERE campaign_id = $1 AND scrubbed_at IS NOT NULL`, [campaign])).length > 0;

describe('payloads of a campaign', () => {
  it('go in pages when it ended long enough ago; its revision and who was left out stay', async () => {
    await endedCampaign(rig, 'old', names(7), PAYLOAD_DAYS + 1);
    await endedCampaign(rig, 'young', ['y'], PAYLOAD_DAYS - 1);
    await rig.campaign('sending', ['s']);
    await put(rig, 's', 'accepted', PAYLOAD_DAYS + 1);
    await rig.query(`INSERT INTO campaign_exclusions VALUES ('demo', 'old', 'left-out', 'same-address')`);
    expect(await scrub(rig, { pageSize: 2 })).toBeGreaterThanOrEqual(4);
    expect(await scrubbed()).toEqual(names(7));
    expect([await marked('old'), await marked('young'), await marked('sending')]).toEqual([true, false, false]);
    expect(await rowsKept(rig)).toMatchObject({ campaign_revisions: 3, campaign_exclusions: 1, operations: 9 });
  });

  it('by two replicas at once', async () => {
    await endedCampaign(rig, 'old', names(20), PAYLOAD_DAYS + 1);
    await Promise.all([scrub(rig, { pageSize: 3 }), scrub(rig, { pageSize: 3 })]);
    await scrub(rig);
    expect(await scrubbed()).toEqual(names(20));
    expect(await marked('old')).toBe(true);
  });

  it('keep what is unknown, and the campaign is not done before that is known and has aged', async () => {
    await endedCampaign(rig, 'old', ['a', 'u', 'zzz'], PAYLOAD_DAYS + 1);
    await put(rig, 'u', 'unknown', PAYLOAD_DAYS + 1);
    await endedCampaign(rig, 'other', ['x'], PAYLOAD_DAYS + 1);
    await scrub(rig, { pageSize: 1 });
    expect(await scrubbed()).toEqual(['a', 'x', 'zzz']);
    expect([await marked('old'), await marked('other')]).toEqual([false, true]);
    await put(rig, 'u', 'accepted', 1);
    await scrub(rig);
    expect(await untouched()).toEqual(['u']);
    await put(rig, 'u', 'accepted', PAYLOAD_DAYS + 1);
    await scrub(rig);
    expect(await marked('old')).toBe(true);
  });
});

const insertUnmatched = async (id: string, days: number, operation: string | null): Promise<void> =>
  void (await rig.query(
    `INSERT INTO receipts (tenant_id, provider, receipt_id, operation_id, type, occurred_at, content, unmatched, received_at)
     VALUES ('demo', 'main', $1, $3, 'bounced', now(), '{"email":"a@example.com"}', true, now() - make_interval(days => $2))`,
    [id, days, operation],
  ));

describe('receipts that no operation was there for', () => {
  it('go after the retention of payloads, and those whose operation came are looked after by it', async () => {
    await rig.request(['a', 'b']);
    await put(rig, 'b', 'accepted', PAYLOAD_DAYS + 1);
    await insertUnmatched('of-nothing', PAYLOAD_DAYS + 1, null);
    await insertUnmatched('of-a-stranger', PAYLOAD_DAYS + 1, '00000000-0000-4000-8000-00000000000f');
    await insertUnmatched('young', PAYLOAD_DAYS - 1, null);
    await insertUnmatched('of-a', PAYLOAD_DAYS + 1, (await rig.operation('a')).operation_id);
    await insertUnmatched('of-b', PAYLOAD_DAYS + 1, (await rig.operation('b')).operation_id);
    await scrub(rig, { pageSize: 2 });
    expect(await rig.query('SELECT receipt_id, unmatched, content FROM receipts ORDER BY receipt_id')).toEqual([
      { receipt_id: 'of-a', unmatched: false, content: { email: 'a@example.com' } },
      { receipt_id: 'of-b', unmatched: false, content: {} },
      { receipt_id: 'young', unmatched: true, content: { email: 'a@example.com' } },
    ]);
  });
});

describe('keys', () => {
  it('go with all that hangs on them, and leave a tombstone', async () => {
    await rig.request(['a', 'young', 'whole', 'unknown']);
    for (const name of ['a', 'young', 'unknown']) await furnish(rig, name);
    await put(rig, 'a', 'bounced', 401);
    await put(rig, 'young', 'accepted', 399);
    await put(rig, 'unknown', 'unknown', 401);
    await scrub(rig);
    await put(rig, 'whole', 'accepted', 401);
    await rig.query(`UPDATE operations SET scrubbed_at = now() WHERE operation_key = 'unknown'`);
    const { operation_id } = await rig.operation('a');
    await forget(rig, { pageSize: 2 });
    expect(await rowsKept(rig)).toEqual({
      operations: 3,
      operation_requests: 2,
      attempts: 2,
      evidence: 2,
      receipts: 2,
      checkpoints: 2,
      step_references: 2,
      operation_tombstones: 1,
    });
    const [tombstone] = await rig.query(
      `SELECT operation_id, state, length(payload_hash) AS hash, ended_at < now() - interval '400 days' AS is_old
       FROM operation_tombstones`,
    );
    expect(tombstone).toEqual({ operation_id, state: 'bounced', hash: 32, is_old: true });
  });

  it('leave nothing where the tenant says so', async () => {
    await rig.request(['a']);
    await put(rig, 'a', 'accepted', 401);
    await scrub(rig);
    await forget(rig, { retention: { ...RETENTION, afterKeyRetention: 'nothing' } });
    expect(await rowsKept(rig)).toEqual({});
  });

  it('of two replicas at once leave one tombstone each', async () => {
    await rig.request(names(20));
    for (const name of names(20)) await put(rig, name, 'accepted', 401);
    await scrub(rig);
    await Promise.all([forget(rig, { pageSize: 3 }), forget(rig, { pageSize: 3 })]);
    expect(await rowsKept(rig)).toEqual({ operation_tombstones: 20 });
  });

  it('of a campaign go in pages, and then the campaign, its revisions, approvals and who was left out', async () => {
    await endedCampaign(rig, 'old', names(7), 401);
    await endedCampaign(rig, 'kept', ['k'], 399);
    for (const name of ['n000', 'k']) await furnish(rig, name);
    await rig.query(
      `INSERT INTO campaign_exclusions SELECT 'demo', c, 'x' || n, 'same-address'
       FROM unnest('{old,kept}'::text[]) c, generate_series(1, 5) n`,
    );
    await rig.query(
      `INSERT INTO approvals (tenant_id, object, revision, hash, granted, decided_by, fact_time)
       SELECT 'demo', 'campaign:' || c, 1, 'hash', true, 'editor', now() FROM unnest('{old,kept}'::text[]) c`,
    );
    await scrub(rig);
    await forget(rig, { pageSize: 2 });
    expect(await rowsKept(rig)).toEqual({
      operations: 1,
      attempts: 1,
      evidence: 1,
      receipts: 1,
      checkpoints: 1,
      step_references: 1,
      operation_tombstones: 7,
      campaigns: 1,
      campaign_revisions: 1,
      campaign_exclusions: 5,
      approvals: 1,
    });
  });

  it('of a campaign wait for the last of its operations', async () => {
    await endedCampaign(rig, 'old', ['a', 'late'], 401);
    await scrub(rig);
    await put(rig, 'late', 'bounced', 1);
    await rig.query(`INSERT INTO campaign_exclusions VALUES ('demo', 'old', 'x', 'same-address')`);
    await forget(rig);
    expect(await rowsKept(rig)).toMatchObject({ operations: 1, campaigns: 1, campaign_exclusions: 1 });
    await put(rig, 'late', 'bounced', 401);
    await forget(rig);
    expect(await rowsKept(rig)).toEqual({ operation_tombstones: 2 });
  });
});

it('a sweep that fails begins anew at the next pass', async () => {
  await rig.request(names(5));
  for (const name of names(5)) await put(rig, name, 'accepted', PAYLOAD_DAYS + 1);
  let sweeps = 0;
  const runOnce = pageByPage(() => {
    sweeps += 1;
    return sweeps === 1 ? scrubPayloads(rig.dataSource, [{ ...RETENTION, id: '\u0000' }], 2) : scrubDemo();
  });
  const scrubDemo = () => scrubPayloads(rig.dataSource, [RETENTION], 2);
  await expect(runOnce()).rejects.toThrow(/invalid byte sequence/);
  while ((await runOnce()) === 'more');
  expect(sweeps).toBe(2);
  expect(await scrubbed()).toEqual(names(5));
});
