import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { loadStatement } from '../../../src/database/statement.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { HandledEvents, subscriberEvent } from '../../support/handled-events.ts';
import { eventRecord, openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

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

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => ({ record: { timestamp: new Date(Date.now() - days * DAY_MS) } });

describe('what the inbox remembers', () => {
  it('a record older than that, and not in the inbox, is refused with the reason', async () => {
    const consumer = rig.consumer('subscribers', handled, { retentionDays: 3 });
    const old = subscriberEvent('old', {}, daysAgo(3.01));
    await consumer.take([old, subscriberEvent('young', {}, daysAgo(2.99))]);
    expect(await handled.ids()).toEqual(['young']);
    expect(await rig.deadLetters()).toMatchObject([
      {
        reason: 'too-old-to-deduplicate',
        record_value: old.value,
        detail: expect.stringContaining('3 days') as string,
      },
    ]);
    await consumer.take([old]);
    expect(await rig.deadLetters()).toHaveLength(1);
  });

  it('one that is older and still there is a duplicate, or a conflict', async () => {
    const consumer = rig.consumer('subscribers', handled, { retentionDays: 3 });
    await consumer.take([subscriberEvent('a', { locale: 'de' })]);
    await consumer.take([
      subscriberEvent('a', { locale: 'de' }, daysAgo(10)),
      subscriberEvent('a', { locale: 'fr' }, daysAgo(10)),
    ]);
    expect(consumer.settled.at(-1)).toMatchObject({ fresh: 0, duplicates: 1, dead: ['identity-conflict'] });
  });

  it('guard: without the comparison, what was handled and forgotten would be handled again', async () => {
    const consumer = rig.consumer('subscribers', handled, { retentionDays: 3 });
    const record = subscriberEvent('a');
    await consumer.take([record]);
    await rig.query(`UPDATE inbox SET received_at = now() - interval '4 days'`);
    await prune(3);
    const again = { ...record, timestamp: new Date(Date.now() - 4 * DAY_MS) };
    await consumer.take([again]);
    expect(await handled.ids()).toEqual(['a']);
    using _cut = cutGuard(
      'insert-fresh.sql',
      'WHERE i.record_time > now() - make_interval(days => :retention_days)',
      'WHERE :retention_days > 0',
    );
    await consumer.take([again]);
    expect(await handled.ids()).toEqual(['a', 'a']);
  });

  it('pruning takes only what is older', async () => {
    await rig.consumer('subscribers', handled).take(['a', 'b'].map((id) => subscriberEvent(id)));
    await rig.query(`UPDATE inbox SET received_at = now() - interval '80 hours' WHERE event_id = 'a'`);
    await prune(3);
    expect(await rig.query('SELECT event_id FROM inbox')).toEqual([{ event_id: 'b' }]);
  });
});

const upserted = (id: string) => subscriberEvent('s', { locale: 'de' }, { id });
const deleted = (id: string) => eventRecord('einmal.subscriber.deleted.v1', { subscriberId: 's' }, { id });

describe('runs of one type', () => {
  it('keep the order between types: what was deleted last stays deleted, what came back is back', async () => {
    await rig
      .consumer('subscribers', handled)
      .take([upserted('1'), upserted('2'), deleted('3'), upserted('4'), deleted('5'), deleted('6')]);
    expect(handled.batches).toEqual([['1', '2'], ['3'], ['4'], ['5', '6']]);
    expect(await handled.types()).toEqual(
      ['upserted', 'upserted', 'deleted', 'upserted', 'deleted', 'deleted'].map(
        (verb) => `einmal.subscriber.${verb}.v1`,
      ),
    );
  });

  it('a type without handler goes to the dead letters and nobody else with it', async () => {
    const consumer = rig.consumer('subscribers', {
      handlerOf: (type) => (type.includes('deleted') ? undefined : handled.handlerOf()),
    });
    await consumer.take([
      subscriberEvent('a'),
      eventRecord('einmal.subscriber.deleted.v1', { subscriberId: 's' }),
      subscriberEvent('b'),
    ]);
    expect(await handled.ids()).toEqual(['a', 'b']);
    expect(await rig.deadLetters()).toMatchObject([
      { detail: 'no-handler: no handler for einmal.subscriber.deleted.v1' },
    ]);
  });
});

const pruneInbox = loadStatement<{ retention_days: number; page_size: number }, { consumer: string }>(
  new URL('../../../src/messaging/inbox/', import.meta.url).href,
  'prune-inbox.sql',
);

async function prune(retentionDays: number): Promise<void> {
  await pruneInbox.run(rig.dataSource, { retention_days: retentionDays, page_size: 100 });
}
