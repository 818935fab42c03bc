import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { EventBatch } from '../../../src/messaging/inbox/consumed-event.ts';
import { onReach } from '../../../src/runtime/signal.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { HandledEvents, subscriberEvent } from '../../support/handled-events.ts';
import { openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

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

/** Calls `step` for batches that hold the event, `times` times. */
function failing(id: string, times: number, step: (batch: EventBatch) => Promise<unknown>) {
  let left = times;
  return async (batch: EventBatch): Promise<void> => {
    if (left <= 0 || !batch.events.some((event) => event.id === id)) return;
    left -= 1;
    await step(batch);
  };
}

const raise = (sqlState: string) => async (batch: EventBatch) =>
  await batch.tx.query(`DO $$ BEGIN RAISE EXCEPTION 'ada@example.org' USING ERRCODE = '${sqlState}'; END $$`);

const records = () => ['a', 'b', 'bad', 'c'].map((id) => subscriberEvent(id));
const ALWAYS = Number.POSITIVE_INFINITY;

describe('errors of the record', () => {
  it.each<[string, (batch: EventBatch) => Promise<unknown>, string]>([
    ['a CHECK', async (batch) => await batch.tx.query(`INSERT INTO handled VALUES (0, 'x', 'x', -1)`), '23514'],
    [
      'text that is not JSON to the server',
      async (batch) => await batch.tx.query(`SELECT '{"a":"\\u0000"}'::jsonb`),
      '22P05',
    ],
    ['U+0000 in text', async (batch) => await batch.tx.query('SELECT $1::text', ['a\u0000b']), '22021'],
    ['a number out of range', raise('22003'), '22003'],
    [
      'a statement after a failed one',
      async (batch) => {
        await batch.tx.query('SELECT 1 / 0').catch(() => undefined);
        await batch.tx.query('SELECT 1');
      },
      '25P02',
    ],
  ])('%s: dead letter with the SQLSTATE, the others are handled', async (_name, step, sqlState) => {
    handled.onHandle = failing('bad', ALWAYS, step);
    expect(await rig.consumer('subscribers', handled).take(records())).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['a', 'b', 'c']);
    expect(await rig.deadLetters()).toMatchObject([
      { reason: 'handler-failed', detail: `the database refused it: SQLSTATE ${sqlState}` },
    ]);
  });

  it('a thrown thing that is no error, and a rejected undefined, are failures too', async () => {
    for (const thrown of ['text', undefined, null]) {
      await handled.reset();
      // oxlint-disable-next-line prefer-promise-reject-errors -- what a careless library does
      handled.onHandle = failing('bad', ALWAYS, async () => await Promise.reject(thrown));
      expect(await rig.consumer('subscribers', handled).take(records())).toEqual({ kind: 'done' });
      expect(await handled.ids()).toEqual(['a', 'b', 'c']);
      expect(await rig.deadLetters()).toMatchObject([{ detail: 'the handler failed: not an error' }]);
    }
  });
});

describe('contention', () => {
  it.each(['40001', '40P01', '55P03'])('%s is retried at once, and counts for nothing', async (sqlState) => {
    handled.onHandle = failing('bad', 3, raise(sqlState));
    expect(await rig.consumer('subscribers', handled).take(records())).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['a', 'b', 'bad', 'c']);
    expect(handled.batches).toHaveLength(4);
    expect(await rig.deadLetters()).toEqual([]);
  });

  it('without end is waited out, and never a dead letter', async () => {
    handled.onHandle = failing('bad', ALWAYS, raise('40001'));
    const consumer = rig.consumer('subscribers', handled);
    expect(await consumer.take(records())).toMatchObject({ kind: 'wait', reason: 'database-contention' });
    expect(await handled.ids()).toEqual([]);
    handled.onHandle = () => undefined;
    expect(await consumer.take(records())).toEqual({ kind: 'done' });
  });
});

describe('a database that is away', () => {
  it.each(['57P01', '57P03', '53300', '08006', '57014', '25006'])(
    '%s: waits, counts nothing, halves nothing',
    async (sqlState) => {
      handled.onHandle = failing('bad', ALWAYS, raise(sqlState));
      const consumer = rig.consumer('subscribers', handled);
      const chunk = records();
      for (let round = 0; round < 5; round++)
        expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'database-away' });
      expect(handled.batches).toHaveLength(5);
      expect(await rig.deadLetters()).toEqual([]);
      handled.onHandle = () => undefined;
      expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
      expect(await handled.ids()).toEqual(['a', 'b', 'bad', 'c']);
    },
  );

  it('a connection that is killed in the middle: nothing stays, the next one does it', async () => {
    handled.onHandle = failing('bad', 1, async ({ tx }) => {
      const [{ pid }] = await tx.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid');
      await rig.query('SELECT pg_terminate_backend($1, 10000)', [pid]);
      await tx.query('SELECT 1');
    });
    const consumer = rig.consumer('subscribers', handled);
    const chunk = records();
    expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'database-away' });
    expect(await handled.ids()).toEqual([]);
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['a', 'b', 'bad', 'c']);
  });

  it('a connection that is killed at every try of a record: it never is poison', async () => {
    handled.onHandle = failing('bad', 4, async ({ tx }) => {
      const [{ pid }] = await tx.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid');
      await rig.query('SELECT pg_terminate_backend($1, 10000)', [pid]);
    });
    const consumer = rig.consumer('subscribers', handled);
    const alone = [subscriberEvent('bad')];
    for (let round = 0; round < 4; round++) expect(await consumer.take(alone)).toMatchObject({ kind: 'wait' });
    expect(await consumer.take(alone)).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['bad']);
    expect(await rig.deadLetters()).toEqual([]);
  });

  it('in the middle of the halving: what was committed is a duplicate, the rest is handled', async () => {
    let tries = 0;
    handled.onHandle = async (batch) => {
      tries += 1;
      if (tries === 3) await raise('57P01')(batch);
      if (batch.events.some((event) => event.id === 'bad')) throw new TypeError('poison');
    };
    const consumer = rig.consumer('subscribers', handled);
    const chunk = records();
    expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait' });
    expect(await handled.ids()).toEqual(['a', 'b']);
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['a', 'b', 'c']);
    expect(await rig.deadLetters()).toMatchObject([{ reason: 'handler-failed' }]);
  });
});

describe('an assignment that ends', () => {
  it('during the handler rolls everything back, dead letters too', async () => {
    const assignment = new AbortController();
    handled.onHandle = () => assignment.abort();
    const consumer = rig.consumer('subscribers', handled);
    const chunk = [...records(), subscriberEvent('d', {}, { record: { value: Buffer.from('no JSON') } })];
    expect(await consumer.take(chunk, assignment.signal)).toMatchObject({ kind: 'wait', reason: 'assignment-lost' });
    expect(await handled.ids()).toEqual([]);
    expect(await rig.deadLetters()).toEqual([]);
    expect(await rig.query('SELECT FROM inbox')).toEqual([]);
  });

  it('during the halving stops it, and the record is no poison for that', async () => {
    const assignment = new AbortController();
    handled.onHandle = (batch) => {
      if (batch.events.length === 1) assignment.abort();
      throw new TypeError('all');
    };
    await rig.consumer('subscribers', handled).take(records(), assignment.signal);
    expect(await rig.deadLetters()).toEqual([]);
  });
});

const broken = () => cutGuard('insert-dead-letters.sql', 'INSERT INTO dead_letters', 'INSERT INTO no_such_table');

describe('a dead letter that cannot be written', () => {
  it('of a poison record: the partition waits, nothing is dropped, and it is written when that works again', async () => {
    handled.onHandle = failing('bad', ALWAYS, raise('23514'));
    const consumer = rig.consumer('subscribers', handled);
    const chunk = records();
    {
      using _cut = broken();
      expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'dead-letter-not-written' });
      expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'dead-letter-not-written' });
    }
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    expect(await rig.deadLetters()).toMatchObject([{ record_value: chunk[2]?.value }]);
    expect(await handled.ids()).toEqual(['a', 'b', 'c']);
  });

  it('of an unreadable record: the same', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const chunk = [subscriberEvent('a'), subscriberEvent('b', {}, { record: { value: Buffer.from('{') } })];
    {
      using _cut = broken();
      expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'dead-letter-not-written' });
    }
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    expect(await rig.deadLetters()).toMatchObject([{ reason: 'unparseable' }]);
    expect(await handled.ids()).toEqual(['a']);
  });

  it('nor its copy for the topic: both are in one transaction', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const chunk = [subscriberEvent('b', {}, { record: { value: Buffer.from('{') } })];
    const stop = onReach('inbox.before-commit', () => {
      stop();
      throw new TypeError('before the commit');
    });
    await consumer.take(chunk);
    expect(await rig.deadLetters()).toHaveLength((await rig.query('SELECT FROM outbox')).length);
  });
});
