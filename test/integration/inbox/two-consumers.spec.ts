import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { inTransaction } from '../../../src/database/in-transaction.ts';
import { sqlState } from '../../../src/database/postgres-errors.ts';
import type { DecodedRecord } from '../../../src/messaging/inbox/decode-record.ts';
import { insertFresh } from '../../../src/messaging/inbox/insert-fresh.ts';
import { recordFrom, openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { eventually } from '../../support/eventually.ts';
import { HandledEvents, subscriberEvent } from '../../support/handled-events.ts';

vi.mock('../../../src/database/statement.ts', async (original) =>
  (await import('../../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
let handled: HandledEvents;

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
  handled = await HandledEvents.create(rig);
});
beforeEach(async () => {
  await handled.reset();
});
afterAll(async () => {
  await rig.close();
});

/** Sessions of this database that wait for a lock. */
const waiting = async (): Promise<number> => {
  const [row] = await rig.query<{ count: number }>(
    `SELECT count(*)::integer FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
};

describe('two consumers with the same records at the same moment', () => {
  it.each([
    { first: 'commits', open: undefined },
    { first: 'rolls back', open: new Error('as if the first had died') },
  ])('handle each once when the first one $first', async ({ open }) => {
    const records = ['a', 'b', 'c'].map((id) => subscriberEvent(id));
    const [one, two] = [rig.consumer('subscribers', handled), rig.consumer('subscribers', handled)];
    using gate = gateAt('inbox.before-commit');
    const first = one.take(records);
    await gate.reached;
    // The second has other neighbours and another order, as after a rebalance in the middle of a batch.
    const second = two.take([subscriberEvent('z'), ...records.toReversed()]);
    await eventually('the second to wait for the first', 10_000, async () => (await waiting()) > 0);
    gate.open(open);
    expect(await Promise.all([first, second])).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect(await handled.ids()).toEqual(['a', 'b', 'c', 'z']);
    expect(await rig.deadLetters()).toEqual([]);
  });

  it('find a conflict with what the other has not committed yet', async () => {
    const [one, two] = [rig.consumer('subscribers', handled), rig.consumer('subscribers', handled)];
    using gate = gateAt('inbox.before-commit');
    const first = one.take([subscriberEvent('a', { locale: 'de' })]);
    await gate.reached;
    const second = two.take([subscriberEvent('a', { locale: 'fr' })]);
    await eventually('the second to wait for the first', 10_000, async () => (await waiting()) > 0);
    gate.open();
    await Promise.all([first, second]);
    expect(await handled.ids()).toEqual(['a']);
    expect(await rig.deadLetters()).toMatchObject([{ reason: 'identity-conflict' }]);
  });

  it('handle 20 shuffled batches of the same 200 records in parallel, each record once', async () => {
    const records = Array.from({ length: 200 }, (_, index) => subscriberEvent(`s${index}`));
    const consumers = Array.from({ length: 20 }, () => rig.consumer('subscribers', handled));
    const outcomes = await Promise.all(consumers.map(async (consumer) => await consumer.take(shuffled(records))));
    expect(new Set(outcomes.map((outcome) => outcome.kind))).toEqual(new Set(['done']));
    expect(await handled.ids()).toEqual(records.map((_, index) => `s${index}`).toSorted());
    expect(consumers.flatMap((consumer) => consumer.settled).reduce((sum, each) => sum + each.fresh, 0)).toBe(200);
  });
});

describe('the order of the keys in the inbox insert', () => {
  it('makes two batches with their records the other way round wait in a line', async () => {
    expect(await crossedInserts()).toEqual({ deadlocks: 0, fresh: ['a', 'b', 'gate-1', 'gate-2'] });
  });

  it('guard: without it they wait in a circle', async () => {
    using _cut = cutGuard('insert-fresh.sql', 'ORDER BY i.source, i.event_id');
    expect(await crossedInserts()).toMatchObject({ deadlocks: 1 });
  });
});

/** Two inserts that are both held between their first and their last record, if they ever hold one at the same time. */
async function crossedInserts(): Promise<{ deadlocks: number; fresh: string[] }> {
  await rig.query(`CREATE OR REPLACE FUNCTION hold_gates() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.event_id LIKE 'gate-%' THEN PERFORM pg_advisory_xact_lock_shared(1); END IF; RETURN NEW; END $$`);
  await rig.query(
    'CREATE OR REPLACE TRIGGER hold_gates BEFORE INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION hold_gates()',
  );
  const keeper = rig.dataSource.createQueryRunner();
  await keeper.query('SELECT pg_advisory_lock(1)');
  const inserts = [
    ['a', 'gate-1', 'b'],
    ['b', 'gate-2', 'a'],
  ].map(
    async (ids) =>
      await inTransaction(rig.dataSource, 'test', async (tx) => await insertFresh(tx, 'crossed', 14, ids.map(decoded))),
  );
  const settled = Promise.allSettled(inserts);
  await eventually('both to be held', 10_000, async () => (await waiting()) === 2);
  await keeper.query('SELECT pg_advisory_unlock(1)');
  await keeper.release();
  const results = await settled;
  await rig.query('DROP TRIGGER hold_gates ON inbox');
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const fresh = results.flatMap((result) => (result.status === 'fulfilled' ? result.value.fresh : []));
  return {
    deadlocks: failures.filter((error) => sqlState(error) === '40P01').length,
    fresh: fresh.map((each) => each.event.id).toSorted(),
  };
}

function decoded(id: string): DecodedRecord {
  const event = { id, source: '/peer', type: 'any', tenantId: 'demo', time: new Date(), data: {} };
  return { kind: 'event', record: recordFrom('subscribers', {}), hash: Buffer.alloc(32), event };
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((each) => ({ each, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ each }) => each);
}
