import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { loadHeaders } from '../../../src/messaging/outbox/outbox-entry.ts';
import type { EventBatch } from '../../../src/messaging/inbox/consumed-event.ts';
import { onReach } from '../../../src/runtime/signal.ts';
import { HandledEvents, subscriberEvent } from '../../support/handled-events.ts';
import { openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

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

const failsFor =
  (...poison: string[]) =>
  ({ events }: EventBatch) => {
    if (events.some((event) => poison.includes(event.id))) throw new TypeError('ada@example.org is not a function');
  };

const names = (count: number) => Array.from({ length: count }, (_, index) => `s${String(index).padStart(3, '0')}`);

describe('a record that makes its handler fail', () => {
  it('is found by halving, and all others are handled once and in order', async () => {
    handled.onHandle = failsFor('s200');
    const consumer = rig.consumer('subscribers', handled);
    expect(await consumer.take(names(256).map((id) => subscriberEvent(id)))).toEqual({ kind: 'done' });
    const good = names(256).filter((id) => id !== 's200');
    expect(await handled.ids()).toEqual(good);
    expect((await rig.events()).map((event) => event.data['subscriberId'])).toEqual(good);
    expect(await rig.deadLetters()).toHaveLength(1);
  });

  it('costs two transactions per halving, not one per record', async () => {
    handled.onHandle = failsFor('s200');
    let transactions = 0;
    const stop = onReach('inbox.after-insert', () => void (transactions += 1));
    await rig.consumer('subscribers', handled).take(names(256).map((id) => subscriberEvent(id)));
    stop();
    // The whole, two halves on each of log2(256) levels, the dead letter.
    expect(transactions).toBeLessThanOrEqual(1 + 2 * Math.log2(256) + 1);
  });

  it('is kept with its bytes, its headers and the reason in words, in the table and for the topic', async () => {
    handled.onHandle = failsFor('bad');
    const record = subscriberEvent('bad', {}, { record: { key: Buffer.from([0, 255, 7]) } });
    const odd = {
      ...record,
      headers: [...record.headers, ['x', Buffer.from([255, 0])], ['x', Buffer.alloc(0)]] as const,
    };
    await rig.consumer('subscribers', handled).take([subscriberEvent('good'), odd]);
    const [letter] = await rig.deadLetters();
    expect(letter).toMatchObject({
      tenant_id: 'demo',
      reason: 'handler-failed',
      detail: 'the handler failed: TypeError',
      record_offset: String(odd.offset),
      record_key: odd.key,
      record_value: odd.value,
    });
    expect(loadHeaders(letter?.headers ?? [])).toEqual(odd.headers);
    const [published] = await rig.query(`SELECT * FROM outbox WHERE topic = 'rig.dead-letters.v1'`);
    expect(published).toMatchObject({ message_key: odd.key, message_value: odd.value });
    const headers = loadHeaders(published?.['headers'] as Parameters<typeof loadHeaders>[0]);
    expect(headers.slice(0, odd.headers.length)).toEqual(odd.headers);
    expect(new Map(headers.slice(odd.headers.length))).toEqual(
      new Map([
        ['einmal_dlt_reason', 'handler-failed'],
        ['einmal_dlt_exception', 'the handler failed: TypeError'],
        ['einmal_dlt_topic', 'rig.subscribers.v1'],
        ['einmal_dlt_partition', '0'],
        ['einmal_dlt_offset', String(odd.offset)],
        ['einmal_dlt_timestamp', odd.timestamp.toISOString()],
        ['einmal_dlt_consumer', 'rig.subscribers'],
        ['einmal_dlt_attempts', '2'],
      ]),
    );
  });

  it('leaves no trace of its values in the reason', async () => {
    handled.onHandle = failsFor('bad');
    await rig.consumer('subscribers', handled).take([subscriberEvent('bad')]);
    expect(JSON.stringify((await rig.deadLetters()).map((row) => row.detail))).not.toContain('ada@');
  });

  it('is a duplicate when it is delivered again: no second try, no second dead letter', async () => {
    handled.onHandle = failsFor('bad');
    const consumer = rig.consumer('subscribers', handled);
    const record = subscriberEvent('bad');
    await consumer.take([record]);
    const tries = handled.batches.length;
    await consumer.take([record]);
    await consumer.take([{ ...record, offset: record.offset + 1000n }]);
    expect(handled.batches).toHaveLength(tries);
    expect(consumer.settled.at(-1)).toMatchObject({ fresh: 0, duplicates: 1, dead: [] });
    expect(await rig.deadLetters()).toHaveLength(1);
    expect(await rig.query('SELECT FROM outbox')).toHaveLength(1);
  });

  it('may have company: each gets a dead letter, wherever it stands', async () => {
    const poison = ['s000', 's001', 's049', 's050', 's099'];
    handled.onHandle = failsFor(...poison);
    await rig.consumer('subscribers', handled).take(names(100).map((id) => subscriberEvent(id)));
    expect(await handled.ids()).toEqual(names(100).filter((id) => !poison.includes(id)));
    expect(await rig.query('SELECT event_id FROM dead_letters ORDER BY event_id')).toEqual(
      poison.map((event_id) => ({ event_id })),
    );
  });

  it('has no dead letter when the new owner of the partition has handled it meanwhile', async () => {
    const record = subscriberEvent('bad');
    handled.onHandle = failsFor('bad');
    let transactions = 0;
    const delayed = beforeEachConnection(async () => {
      if (++transactions !== 3) return;
      handled.onHandle = () => undefined;
      await rig.consumer('subscribers', handled).take([record]);
    });
    const late = rig.consumer('subscribers', handled, { dataSource: delayed });
    expect(await late.take([record])).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['bad']);
    expect(await rig.deadLetters()).toEqual([]);
  });

  it('counts once, however often it comes', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const unreadable = subscriberEvent('bad', {}, { record: { value: Buffer.from('{') } });
    await consumer.take([unreadable]);
    await consumer.take([unreadable]);
    expect(consumer.settled).toMatchObject([
      { duplicates: 0, dead: ['unparseable'] },
      { duplicates: 1, dead: [] },
    ]);
  });

  it('does not count as poison when the second try alone succeeds', async () => {
    let failures = 0;
    handled.onHandle = () => {
      if (failures++ === 0) throw new TypeError('once');
    };
    await rig.consumer('subscribers', handled).take([subscriberEvent('a')]);
    expect(await handled.ids()).toEqual(['a']);
    expect(await rig.deadLetters()).toEqual([]);
  });
});

describe('what the inbox itself cannot take', () => {
  it('an identity too long for the index goes to the dead letters and does not stop the partition', async () => {
    // 512 characters of three incompressible bytes each, twice: more than the 2,704 bytes of an index row.
    const record = subscriberEvent('long', {}, { id: longIdentity(), source: longIdentity() });
    const consumer = rig.consumer('subscribers', handled);
    expect(await consumer.take([subscriberEvent('a'), record, subscriberEvent('b')])).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['a', 'b']);
    expect(await rig.deadLetters()).toMatchObject([{ record_value: record.value }]);
    expect(await consumer.take([record])).toEqual({ kind: 'done' });
    expect(await rig.deadLetters()).toHaveLength(1);
  });
});

function longIdentity(): string {
  return Array.from({ length: 512 }, oddCharacter).join('');
}

function oddCharacter(): string {
  return String.fromCharCode(0x4e00 + Math.floor(Math.random() * 0x5000));
}

/** The same database; `step` is called before each transaction opens. */
function beforeEachConnection(step: () => Promise<void>): DataSource {
  const delayed = Object.create(rig.dataSource) as DataSource;
  delayed.createQueryRunner = () => {
    const runner = rig.dataSource.createQueryRunner();
    const connect = runner.connect.bind(runner);
    let opened = false;
    runner.connect = async () => {
      if (!opened) await step();
      opened = true;
      return await (connect() as Promise<unknown>);
    };
    return runner;
  };
  return delayed;
}
