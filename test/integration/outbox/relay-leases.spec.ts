import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { readOutbox } from '../../../src/messaging/outbox/outbox-statements.ts';
import type { RelayPipeline } from '../../../src/messaging/outbox/relay.pipeline.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';
import { append, broken, drain, entryOf, FakeBroker, refuses, relayOf, resetOutbox } from '../../support/relay-rig.ts';

const clock = vi.hoisted(() => ({ aheadMs: 0 }));
vi.mock('../../../src/runtime/monotonic.ts', async (original) => {
  const actual = await original<object>();
  return { ...actual, monotonicNow: () => performance.now() + clock.aheadMs };
});
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
  clock.aheadMs = 0;
  await resetOutbox(rig.dataSource);
});
afterAll(async () => {
  await rig.close();
});

const sweep = async (relay: RelayPipeline) => await relay.runOnce(new AbortController().signal);
const sixteen = () => Array.from({ length: 64 }, (_, index) => entryOf(`m${index}`, `key-${index}`));

/** Buckets of each relay that has some. */
const shares = async (): Promise<number[]> =>
  (
    await rig.query<{ buckets: number }>(
      'SELECT count(*)::integer AS buckets FROM outbox_buckets WHERE lease_until > now() GROUP BY owner ORDER BY owner',
    )
  ).map((row) => row.buckets);

const endLeases = async (owner?: string) => {
  await rig.query('UPDATE outbox_buckets SET lease_until = now() WHERE owner = coalesce($1::uuid, owner)', [
    owner ?? null,
  ]);
  await rig.query('UPDATE outbox_relays SET alive_until = now() WHERE relay_id = coalesce($1::uuid, relay_id)', [
    owner ?? null,
  ]);
};

describe('relays share the buckets', () => {
  it('one has all, two have half each, three have a third each, and none is owned twice or by nobody', async () => {
    const relays = [relayOf(rig.dataSource, broker), relayOf(rig.dataSource, broker), relayOf(rig.dataSource, broker)];
    const [one, two, three] = relays as [RelayPipeline, RelayPipeline, RelayPipeline];
    await sweep(one);
    expect(await shares()).toEqual([16]);
    // A relay renews when a third of its lease is over; that is when it learns of another.
    for (let round = 0; round < 3; round++) {
      for (const relay of [one, two]) await sweep(relay);
      clock.aheadMs += 11_000;
    }
    expect(await shares()).toEqual([8, 8]);
    for (let round = 0; round < 3; round++) {
      for (const relay of relays) await sweep(relay);
      clock.aheadMs += 11_000;
    }
    expect((await shares()).toSorted((one, other) => one - other)).toEqual([4, 6, 6]);
    await three.release();
  });

  it('and publish all there is, each message once, while they work at the same time', async () => {
    await append(rig.dataSource, sixteen());
    const relays = Array.from({ length: 4 }, () => relayOf(rig.dataSource, broker, { batchSize: 3 }));
    for (let round = 0; round < 4; round++) {
      await Promise.all(relays.map(sweep));
      clock.aheadMs += 11_000;
    }
    await Promise.all(relays.map(async (relay) => await drain(relay)));
    expect(broker.ids().toSorted()).toEqual(
      sixteen()
        .map((_, index) => `m${index}`)
        .toSorted(),
    );
  });

  it('do not wait for a bucket that another is taking at this moment', async () => {
    const taking = rig.dataSource.createQueryRunner();
    await taking.startTransaction();
    await taking.query('SELECT FROM outbox_buckets WHERE bucket = 3 FOR UPDATE');
    await sweep(relayOf(rig.dataSource, broker));
    await taking.rollbackTransaction();
    await taking.release();
    expect(await shares()).toEqual([15]);
  });

  it('that ask at the same moment get different buckets', async () => {
    const relays = Array.from({ length: 8 }, () => relayOf(rig.dataSource, broker));
    await Promise.all(relays.map(sweep));
    expect((await shares()).reduce((sum, buckets) => sum + buckets, 0)).toBeLessThanOrEqual(16);
    await append(rig.dataSource, sixteen());
    await Promise.all(relays.map(sweep));
    expect(broker.ids()).toHaveLength(new Set(broker.ids()).size);
  });
});

describe('a relay that has lost its buckets', () => {
  it('to another reads nothing and publishes nothing, though it believes in its lease', async () => {
    const late = relayOf(rig.dataSource, broker);
    await sweep(late);
    await endLeases();
    await sweep(relayOf(rig.dataSource, new FakeBroker()));
    await append(rig.dataSource, sixteen());
    expect(await sweep(late)).toBe('idle');
    expect(broker.batches).toEqual([]);
  });

  it('to time alone reads nothing either', async () => {
    const late = relayOf(rig.dataSource, broker);
    await sweep(late);
    await endLeases();
    await append(rig.dataSource, sixteen());
    expect(await sweep(late)).toBe('idle');
    expect(broker.batches).toEqual([]);
  });

  it('in the middle of a sweep starts no publish that may not end inside the lease', async () => {
    await append(rig.dataSource, sixteen());
    const late = relayOf(rig.dataSource, broker, { batchSize: 10 });
    broker.answers = [
      () => {
        clock.aheadMs += 26_000;
        return { stored: 10, outcome: { kind: 'acknowledged' } };
      },
    ];
    await sweep(late);
    expect(broker.batches).toHaveLength(1);
    await drain(late);
    expect(broker.ids()).toHaveLength(64);
  });

  it('while a message was parked does not publish what stood behind it', async () => {
    await append(
      rig.dataSource,
      ['bad', 'a', 'b'].map((id) => entryOf(id, 'k')),
    );
    broker.answers = [
      (batch) => {
        clock.aheadMs += 26_000;
        return refuses('bad', 'message-too-large')(batch);
      },
    ];
    await sweep(relayOf(rig.dataSource, broker));
    expect(broker.batches).toHaveLength(1);
    expect(await rig.query('SELECT FROM outbox')).toHaveLength(2);
  });

  it('tells the producer after how long to give up', async () => {
    await append(rig.dataSource, [entryOf('a', 'k')]);
    const publish = vi.spyOn(broker, 'publish');
    await sweep(relayOf(rig.dataSource, broker, { leaseSeconds: 20, produceTimeoutMs: 10_000 }));
    expect(publish.mock.calls[0]?.at(1)).toBe(10_000);
  });

  it.each([
    { what: 'another fence', fence: '0', relay: null, guard: 'AND b.fence = mine.fence' },
    {
      what: 'another owner',
      fence: null,
      relay: '00000000-0000-4000-8000-000000000000',
      guard: 'AND b.owner = :relay::uuid',
    },
    { what: 'an ended lease', fence: null, relay: null, guard: 'AND b.lease_until > now()' },
  ])('guard: $what reads nothing, and would read if the statement did not ask', async ({ fence, relay, guard }) => {
    const owner = relayOf(rig.dataSource, broker);
    await sweep(owner);
    await append(rig.dataSource, [entryOf('a', 'k')]);
    if (guard.includes('lease')) await endLeases();
    const [bucket] = await rig.query<{ bucket: number; fence: string }>(
      'SELECT b.bucket, b.fence FROM outbox o JOIN outbox_buckets b USING (bucket)',
    );
    const read = async () =>
      await readOutbox.run(rig.dataSource, {
        relay: relay ?? owner.relayId,
        buckets: [bucket?.bucket ?? -1],
        fences: [fence ?? bucket?.fence ?? ''],
        rows_per_bucket: 10,
        bytes_per_bucket: 1000,
      });
    expect(await read()).toEqual([]);
    using _cut = cutGuard('read-outbox.sql', guard, guard.includes('owner') ? 'AND :relay::uuid IS NOT NULL' : '');
    expect(await read()).toHaveLength(1);
  });

  it('guard: a lease that were taken while it runs would give a bucket to two', async () => {
    const owner = relayOf(rig.dataSource, broker);
    await sweep(owner);
    await append(rig.dataSource, sixteen());
    const thief = relayOf(rig.dataSource, broker);
    using _cut = cutGuard('lease-buckets.sql', 'WHERE lease_until <= now()', 'WHERE true');
    await sweep(thief);
    expect(broker.ids()).not.toHaveLength(0);
  });
});

describe('takeover', () => {
  it('waits for the end of the lease of a relay that died, and then takes all', async () => {
    const dead = relayOf(rig.dataSource, broker);
    await sweep(dead);
    await append(rig.dataSource, sixteen());
    const next = relayOf(rig.dataSource, broker);
    expect(await sweep(next)).toBe('idle');
    await endLeases(dead.relayId);
    clock.aheadMs += 11_000;
    await drain(next);
    expect(broker.ids()).toHaveLength(64);
  });

  it('is at once after a release', async () => {
    const leaving = relayOf(rig.dataSource, broker);
    await sweep(leaving);
    await append(rig.dataSource, sixteen());
    await leaving.release();
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toHaveLength(64);
  });

  it('of a bucket whose messages were published and not deleted repeats them in order, with the same ids', async () => {
    await append(
      rig.dataSource,
      ['a', 'b', 'c'].map((id) => entryOf(id, 'k')),
    );
    const dying = relayOf(rig.dataSource, broker);
    using gate = gateAt('relay.after-publish');
    const dead = sweep(dying);
    await gate.reached;
    await endLeases();
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    gate.open(new Error('as if it had died'));
    await expect(dead).rejects.toThrow('as if it had died');
  });

  it('goes on with the first message that was not acknowledged', async () => {
    await append(
      rig.dataSource,
      ['a', 'b', 'c'].map((id) => entryOf(id, 'k')),
    );
    broker.answers = [broken(1, 2)];
    const failed = relayOf(rig.dataSource, broker);
    await expect(sweep(failed)).rejects.toThrow('the broker did not take');
    await failed.release();
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toEqual(['a', 'b', 'b', 'c']);
  });
});

describe('another number of buckets', () => {
  it('fewer than before: rows of buckets above the number are published', async () => {
    await append(rig.dataSource, sixteen(), 16);
    await resetBuckets(4);
    await drain(relayOf(rig.dataSource, broker));
    expect(broker.ids()).toHaveLength(64);
  });
});

async function resetBuckets(buckets: number): Promise<void> {
  const { seedBuckets } = await import('../../../src/messaging/outbox/outbox-statements.ts');
  await rig.query('TRUNCATE outbox_buckets');
  await seedBuckets.run(rig.dataSource, { buckets });
}
