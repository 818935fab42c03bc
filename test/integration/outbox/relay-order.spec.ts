import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { RecordToPublish } from '../../../src/messaging/kafka/kafka-producer.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';
import {
  append,
  broken,
  drain,
  entryOf,
  FakeBroker,
  idOf,
  refuses,
  relayOf,
  resetOutbox,
} from '../../support/relay-rig.ts';

vi.mock('../../../src/database/statement.ts', async (original) =>
  (await import('../../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
let broker: FakeBroker;

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
});
beforeEach(async () => {
  broker = new FakeBroker();
  await resetOutbox(rig.dataSource);
});
afterAll(async () => {
  await rig.close();
});

const left = async (): Promise<number> => (await rig.query('SELECT FROM outbox')).length;

describe('what the relay publishes', () => {
  it('is in the order of each key, each message once when nothing fails, and leaves the outbox empty', async () => {
    const entries = Array.from({ length: 60 }, (_, index) => entryOf(`m${index}`, `key-${index % 7}`));
    await append(rig.dataSource, entries);
    await drain(relayOf(rig.dataSource, broker, { batchSize: 9 }));
    expect(byKey(broker.stored)).toEqual(
      byKey(entries.map((entry, index) => ({ ...entry, headers: { ce_id: `m${index}` } }))),
    );
    expect(broker.stored).toHaveLength(60);
    expect(await left()).toBe(0);
  });

  it('keeps bytes, headers in repetition, and a tombstone', async () => {
    const bytes = Buffer.from([0, 255, 128]);
    const headers = [
      ['ce_id', 'm'],
      ['x', bytes],
      ['x', Buffer.alloc(0)],
      ['y', 'text ü'],
    ] as const;
    await append(rig.dataSource, [entryOf('m', null, { headers, value: null }), entryOf('n', 'k', { value: bytes })]);
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.stored[0]).toEqual({
      topic: 'rig.events.v1',
      key: null,
      value: null,
      headers: { ce_id: ['m'], x: [bytes, Buffer.alloc(0)], y: ['text ü'] },
    });
    expect(broker.stored[1]).toMatchObject({ value: bytes });
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'may carry a header named %s, as a dead letter of a peer does',
    async (name) => {
      await append(rig.dataSource, [
        entryOf('m', 'k', {
          headers: [
            ['ce_id', 'm'],
            [name, Buffer.from('x')],
          ],
        }),
        entryOf('n', 'k'),
      ]);
      expect(await drain(relayOf(rig.dataSource, broker), 5)).toBe(0);
      expect(Object.entries(broker.stored[0]?.headers ?? {})).toEqual([
        ['ce_id', ['m']],
        [name, [Buffer.from('x')]],
      ]);
      expect(broker.ids()).toEqual(['m', 'n']);
    },
  );

  it('does not let a tombstone overtake what a sweep has no room for', async () => {
    const large = Buffer.alloc(600_000);
    await append(rig.dataSource, [
      entryOf('1', 'k', { value: large }),
      entryOf('2', 'k', { value: large }),
      entryOf('3', 'k', { value: large }),
      entryOf('4', 'k', { value: null }),
    ]);
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toEqual(['1', '2', '3', '4']);
  });
});

describe('a publish that fails', () => {
  it('leaves order per key, the same ids, and nothing out, wherever it breaks off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { maxLength: 8 }),
        fc.integer({ min: 1, max: 12 }),
        async (keys, breaks, batchSize) => {
          await resetOutbox(rig.dataSource, 2);
          const faulty = new FakeBroker();
          // What was acknowledged is stored; what was not may be.
          faulty.answers = breaks.map(([acknowledged, more]) => (batch) => {
            const known = Math.min(acknowledged, batch.length - 1);
            return broken(known, Math.min(known + more, batch.length))();
          });
          const entries = keys.map((key, index) => entryOf(`m${index}`, `key-${key}`));
          await append(rig.dataSource, entries, 2);
          await drain(relayOf(rig.dataSource, faulty, { batchSize }));
          expect(await left()).toBe(0);
          for (const [key, ids] of byKey(faulty.stored)) {
            const written = keys.flatMap((each, index) => (`key-${each}` === key ? [`m${index}`] : []));
            expect([...new Set(ids)]).toEqual(written);
          }
          expect(new Set(faulty.ids()).size).toBe(keys.length);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('burns nothing: the rows of an outage of any length stay as they were', async () => {
    await append(rig.dataSource, [entryOf('a', 'k'), entryOf('b', 'k')]);
    const before = await rig.query('SELECT * FROM outbox ORDER BY outbox_id');
    const relay = relayOf(rig.dataSource, broker);
    broker.answers = Array.from({ length: 200 }, () => broken(0));
    for (let round = 0; round < 200; round++) {
      await expect(relay.runOnce(new AbortController().signal)).rejects.toMatchObject({ code: 'broker-away' });
    }
    expect(await rig.query('SELECT * FROM outbox ORDER BY outbox_id')).toEqual(before);
    expect(await rig.query('SELECT FROM dead_letters')).toEqual([]);
    await drain(relay);
    expect(broker.ids()).toEqual(['a', 'b']);
  });

  it('deletes what was acknowledged and not a row more, also of those written meanwhile', async () => {
    await append(rig.dataSource, [entryOf('a', 'k'), entryOf('b', 'k'), entryOf('c', 'k')]);
    broker.answers = [
      async () => {
        await append(rig.dataSource, [entryOf('d', 'k')]);
        return broken(1, 3)();
      },
    ];
    await expect(relayOf(rig.dataSource, broker).runOnce(new AbortController().signal)).rejects.toThrow(
      'the broker did not take',
    );
    expect(
      await rig.query<{ id: string }>(
        `SELECT convert_from(message_value, 'UTF8') AS id FROM outbox ORDER BY outbox_id`,
      ),
    ).toEqual(['b', 'c', 'd'].map((id) => ({ id })));
  });

  it('guard: a delete that names the bucket alone would lose what was not acknowledged', async () => {
    using _cut = cutGuard('delete-published.sql', ' AND o.outbox_id = published.outbox_id');
    await append(rig.dataSource, [entryOf('a', 'k'), entryOf('b', 'k')]);
    broker.answers = [broken(1)];
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toEqual(['a']);
  });
});

describe('a message that the broker refuses for what it is', () => {
  it('is parked with its bytes, and the rest goes on in order', async () => {
    await append(
      rig.dataSource,
      ['a', 'b', 'bad', 'c', 'd'].map((id) =>
        entryOf(id, 'k', {
          headers: [
            ['ce_id', id],
            ['x', 'y'],
          ],
        }),
      ),
    );
    broker.answers = [refuses('bad', 'message-too-large')];
    expect(await drain(relayOf(rig.dataSource, broker))).toBe(0);
    expect(broker.ids()).toEqual(['a', 'b', 'c', 'd']);
    expect(await rig.deadLetters()).toMatchObject([
      {
        reason: 'refused-by-broker',
        detail: 'the broker refused it: message-too-large',
        record_key: Buffer.from('k'),
        record_value: Buffer.from('bad'),
        headers: [
          ['ce_id', 'bad'],
          ['x', 'y'],
        ],
      },
    ]);
  });

  it('may be the first, the last, and one of several', async () => {
    await append(
      rig.dataSource,
      ['bad1', 'a', 'bad2', 'bad3'].map((id) => entryOf(id, 'k')),
    );
    broker.answers = ['bad1', 'bad2', 'bad3'].map((id) => refuses(id, 'invalid-record'));
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toEqual(['a']);
    expect((await rig.deadLetters()).map((row) => String(row.record_value))).toEqual(['bad1', 'bad2', 'bad3']);
  });

  it('holds up its own bucket only: what waits in the others goes out in the same sweep', async () => {
    // Keys that fall into different buckets.
    await append(rig.dataSource, [
      entryOf('held', 'k1'),
      entryOf('behind', 'k1'),
      entryOf('other', 'k2'),
      entryOf('more', 'k3'),
    ]);
    const missing = refuses('held', 'unknown-topic-or-partition');
    broker.answers = [missing, missing, missing];
    const relay = relayOf(rig.dataSource, broker);
    await expect(relay.runOnce(new AbortController().signal)).rejects.toMatchObject({ code: 'broker-refuses' });
    expect(new Set(broker.ids())).toEqual(new Set(['other', 'more']));
    broker.answers = [];
    await drain(relay);
    expect(broker.ids().slice(-2)).toEqual(['held', 'behind']);
  });

  it('is waited for when the topic or a right is missing: that can be put right', async () => {
    await append(
      rig.dataSource,
      ['a', 'b'].map((id) => entryOf(id, 'k')),
    );
    broker.answers = [refuses('a', 'unknown-topic-or-partition'), refuses('a', 'topic-authorization-failed')];
    expect(await drain(relayOf(rig.dataSource, broker))).toBe(2);
    expect(broker.ids()).toEqual(['a', 'b']);
    expect(await rig.deadLetters()).toEqual([]);
  });
});

function byKey(records: readonly Pick<RecordToPublish, 'key' | 'headers'>[]): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  for (const record of records) {
    const key = String(record.key);
    keys.set(key, [...(keys.get(key) ?? []), idOf(record as RecordToPublish)]);
  }
  return keys;
}
