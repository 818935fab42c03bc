import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { inTransaction } from '../../../src/database/in-transaction.ts';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';
import { append, drain, entryOf, FakeBroker, relayOf, resetOutbox } from '../../support/relay-rig.ts';

vi.mock('../../../src/database/statement.ts', async (original) =>
  (await import('../../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
let broker: FakeBroker;

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'), 60);
});
beforeEach(async () => {
  broker = new FakeBroker();
  await resetOutbox(rig.dataSource);
});
afterAll(async () => {
  await rig.close();
});

describe('transactions that overlap', () => {
  it('an early insert that commits late is published: nothing is skipped', async () => {
    const relay = relayOf(rig.dataSource, broker);
    const early = rig.dataSource.createQueryRunner();
    await early.startTransaction();
    await appendToOutbox(early.manager as Parameters<typeof appendToOutbox>[0], [entryOf('early', 'k')], LIMITS);
    await append(rig.dataSource, [entryOf('late', 'k')]);
    await drain(relay);
    expect(broker.ids()).toEqual(['late']);
    await early.commitTransaction();
    await early.release();
    await drain(relay);
    expect(broker.ids()).toEqual(['late', 'early']);
  });

  it('one that stays open, with rows of its own in the outbox and elsewhere, delays nobody', async () => {
    const open = rig.dataSource.createQueryRunner();
    await open.startTransaction('REPEATABLE READ');
    await open.query(
      `INSERT INTO subscribers (tenant_id, subscriber_id, status, fact_time) VALUES ('demo', 'x', 'deleted', now())`,
    );
    await appendToOutbox(open.manager as Parameters<typeof appendToOutbox>[0], [entryOf('never', 'k')], LIMITS);
    const relay = relayOf(rig.dataSource, broker);
    for (const id of ['a', 'b', 'c']) {
      await append(rig.dataSource, [entryOf(id, 'k')]);
      await drain(relay);
    }
    expect(broker.ids()).toEqual(['a', 'b', 'c']);
    await open.rollbackTransaction();
    await open.release();
    await drain(relay);
    expect(broker.ids()).toEqual(['a', 'b', 'c']);
  });

  it('200 writers with shuffled keys never wait for each other in a circle, and keep the order within each', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    const relay = relayOf(rig.dataSource, broker);
    const writers = Array.from({ length: 200 }, async (_, writer) => {
      const shuffled = keys.toSorted(() => Math.random() - 0.5);
      const twice = [...shuffled, ...shuffled];
      await append(
        rig.dataSource,
        twice.map((key, index) => entryOf(`${writer}:${index}`, key)),
      );
    });
    await Promise.all([...writers, drain(relay)]);
    await drain(relay);
    expect(broker.ids()).toHaveLength(200 * 100);
    const last = new Map<string, number>();
    for (const record of broker.stored) {
      const [writer = '', index = ''] = String(record.headers['ce_id']).split(':');
      const place = `${writer} ${String(record.key)}`;
      expect(Number(index)).toBeGreaterThan(last.get(place) ?? -1);
      last.set(place, Number(index));
    }
  });
});

const reversed = () => Array.from({ length: 50 }, (_, index) => entryOf(`m${49 - index}`, 'k'));

describe('the order within a transaction', () => {
  it('is the order in which the messages were given', async () => {
    await append(rig.dataSource, reversed());
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toEqual(reversed().map((entry) => String(entry.value)));
  });

  it('guard: an order by anything else would show', async () => {
    using _cut = cutGuard('append-to-outbox.sql', 'ORDER BY i.position', 'ORDER BY i.position DESC');
    await append(rig.dataSource, reversed());
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).not.toEqual(reversed().map((entry) => String(entry.value)));
  });
});

const write = async (bytes: number, maxBytes?: number) => {
  await inTransaction(rig.dataSource, 'test', async (tx) => {
    await tx.query(
      `INSERT INTO subscribers (tenant_id, subscriber_id, status, fact_time) VALUES ('demo', 'y', 'deleted', now())`,
    );
    const large = entryOf('large', 'k', {
      value: Buffer.alloc(bytes),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
    await appendToOutbox(tx, [entryOf('a', 'k'), large], { buckets: 16, maxMessageBytes: 10_000 });
  });
};

describe('the size of a message', () => {
  it('is checked in the transaction of the writer: all of it is rolled back', async () => {
    await expect(write(10_000)).rejects.toMatchObject({ code: 'message-too-large', retryable: false });
    expect(await rig.query('SELECT FROM outbox')).toEqual([]);
    expect(await rig.query(`SELECT FROM subscribers WHERE subscriber_id = 'y'`)).toEqual([]);
  });

  it('counts headers and key', async () => {
    const large = entryOf('a', 'k'.repeat(6_000), { headers: [['x', 'y'.repeat(5_000)]] });
    await expect(
      inTransaction(rig.dataSource, 'test', async (tx) => {
        await appendToOutbox(tx, [large], { buckets: 16, maxMessageBytes: 10_000 });
      }),
    ).rejects.toMatchObject({ code: 'message-too-large' });
  });

  it('may be larger where the topic takes it', async () => {
    await write(20_000, 30_000);
    expect(await rig.query('SELECT FROM outbox')).toHaveLength(2);
  });
});

const LIMITS = { buckets: 16, maxMessageBytes: 900_000 };
