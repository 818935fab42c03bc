import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { ServiceError } from '../../../src/runtime/service-error.ts';
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

const reasons = async () => (await rig.deadLetters()).map((row) => row.reason);

describe('a record and its repetitions', () => {
  it('hands fresh events to the handler once, in order and as one batch', async () => {
    const consumer = rig.consumer('subscribers', handled);
    expect(await consumer.take(['a', 'b', 'c'].map((id) => subscriberEvent(id)))).toEqual({ kind: 'done' });
    expect(handled.batches).toEqual([['a', 'b', 'c']]);
    expect(await handled.ids()).toEqual(['a', 'b', 'c']);
  });

  it('takes a redelivered record for a duplicate, also between fresh ones', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const first = subscriberEvent('a');
    await consumer.take([first]);
    await consumer.take([subscriberEvent('b'), first, subscriberEvent('c')]);
    expect(await handled.ids()).toEqual(['a', 'b', 'c']);
    expect(consumer.settled.at(-1)).toMatchObject({ fresh: 2, duplicates: 1, dead: [] });
  });

  it('takes the same event serialised anew, under another offset, for a duplicate', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const record = subscriberEvent('a');
    const data = JSON.parse(String(record.value)) as Record<string, unknown>;
    const turned = Object.fromEntries(Object.entries(data).toReversed());
    await consumer.take([record]);
    await consumer.take([
      { ...record, offset: record.offset + 1000n, value: Buffer.from(JSON.stringify(turned, null, 2)) },
    ]);
    expect(await handled.ids()).toEqual(['a']);
    expect(await reasons()).toEqual([]);
  });

  it('sends the same identity with other content to the dead letters, and handles it never', async () => {
    const consumer = rig.consumer('subscribers', handled);
    await consumer.take([subscriberEvent('a', { locale: 'de' })]);
    const other = subscriberEvent('a', { locale: 'fr' });
    await consumer.take([other]);
    await consumer.take([other]);
    expect(await handled.ids()).toEqual(['a']);
    expect(await rig.deadLetters()).toMatchObject([{ reason: 'identity-conflict', record_value: other.value }]);
  });

  it('finds a repetition and a conflict within one chunk', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const record = subscriberEvent('a', { locale: 'de' });
    await consumer.take([record, { ...record, offset: record.offset + 1000n }, subscriberEvent('a', { locale: 'fr' })]);
    expect(await handled.ids()).toEqual(['a']);
    expect(consumer.settled).toMatchObject([{ fresh: 1, duplicates: 1, dead: ['identity-conflict'] }]);
  });

  it('tells events apart by source and id together, however the two are cut', async () => {
    const consumer = rig.consumer('subscribers', handled);
    await consumer.take([
      subscriberEvent('b1', {}, { source: '/a' }),
      subscriberEvent('1', {}, { source: '/ab' }),
      subscriberEvent('1', {}, { source: '/a' }),
    ]);
    expect(await handled.ids()).toEqual(['1', '1', 'b1']);
  });

  it('lets each consumer handle the event for itself', async () => {
    const record = subscriberEvent('a');
    await rig.consumer('subscribers', handled, { name: 'one' }).take([record]);
    await rig.consumer('subscribers', handled, { name: 'two' }).take([record]);
    expect(await handled.ids()).toEqual(['a', 'a']);
  });

  it('compares with what this consumer has seen, not with what another has', async () => {
    const [de, fr] = [subscriberEvent('a', { locale: 'de' }), subscriberEvent('a', { locale: 'fr' })];
    const one = rig.consumer('subscribers', handled, { name: 'one' });
    const two = rig.consumer('subscribers', handled, { name: 'two' });
    await one.take([de]);
    await two.take([fr]);
    await one.take([de]);
    await two.take([fr]);
    expect(await reasons()).toEqual([]);
  });

  it('guard: without the inbox row a redelivery would be handled again', async () => {
    using _cut = cutGuard(
      'insert-fresh.sql',
      'SELECT :consumer, i.source',
      'SELECT :consumer || gen_random_uuid(), i.source',
    );
    const consumer = rig.consumer('subscribers', handled);
    const record = subscriberEvent('a');
    await consumer.take([record]);
    await consumer.take([record]);
    expect(await handled.ids()).toEqual(['a', 'a']);
  });
});

describe('a crash of the transaction', () => {
  it.each(['inbox.after-insert', 'inbox.after-handle', 'inbox.before-commit', 'inbox.after-commit'])(
    'at %s and a redelivery: handled once, answered once',
    async (point) => {
      const consumer = rig.consumer('subscribers', handled);
      const records = ['a', 'b', 'c', 'd'].map((id) => subscriberEvent(id));
      const stop = onReach(point, () => {
        stop();
        throw new ServiceError('crash', 'as if the process had died here', { retryable: true });
      });
      const outcome = await consumer.take(records);
      expect(outcome).toMatchObject({ kind: 'wait' });
      expect(await handled.ids()).toEqual(point === 'inbox.after-commit' ? ['a', 'b', 'c', 'd'] : []);
      expect(await consumer.take(records)).toEqual({ kind: 'done' });
      expect(await handled.ids()).toEqual(['a', 'b', 'c', 'd']);
      expect((await rig.events()).map((event) => event.data['subscriberId'])).toEqual(['a', 'b', 'c', 'd']);
      expect(await reasons()).toEqual([]);
    },
  );
});
