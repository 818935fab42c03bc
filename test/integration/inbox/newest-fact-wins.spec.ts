import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { addressHash } from '../../../src/mail/address.ts';
import type { ConsumedRecord } from '../../../src/messaging/kafka/record-chunk.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { domainHandlers } from '../../support/domain-handlers.ts';
import { eventRecord, openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

vi.mock('../../../src/database/statement.ts', async (original) =>
  (await import('../../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
const handlers = domainHandlers();

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => {
  await rig.close();
});

const NOW = Date.now();
const at = (second: number) => new Date(NOW - 3_600_000 + second * 1000);
const HASH = `sha256:${'a'.repeat(64)}`;

/** Facts about one thing: is it there after fact n? `true` states it, `false` takes it back. */
const history = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });
/** An order of arrival, and after which arrivals a chunk ends. */
const arrival = history.chain((facts) =>
  fc.tuple(
    fc.constant(facts),
    fc.shuffledSubarray([...facts.keys()], { minLength: facts.length, maxLength: facts.length }),
    fc.array(fc.boolean(), { minLength: facts.length, maxLength: facts.length }),
  ),
);

async function arrive(
  topic: Parameters<MessagingRig['consumer']>[0],
  records: readonly ConsumedRecord[],
  ends: readonly boolean[],
): Promise<void> {
  const consumer = rig.consumer(topic, handlers);
  let chunk: ConsumedRecord[] = [];
  for (const [index, record] of records.entries()) {
    chunk.push(record);
    if (!ends[index] && index < records.length - 1) continue;
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    chunk = [];
  }
}

const holds = async (property: (facts: boolean[], order: number[], ends: boolean[]) => Promise<void>) => {
  await fc.assert(
    fc.asyncProperty(arrival, async ([facts, order, ends]) => await property(facts, order, ends)),
    { numRuns: 40 },
  );
};

const subscribers = async () =>
  await holds(async (facts, order, ends) => {
    const subscriberId = randomUUID();
    const records = order.map((n) =>
      facts[n]
        ? eventRecord(
            'einmal.subscriber.upserted.v1',
            { subscriberId, email: `n${n}@example.org`, status: 'confirmed', lists: [`l${n}`], attributes: { n } },
            { time: at(n) },
          )
        : eventRecord('einmal.subscriber.deleted.v1', { subscriberId }, { time: at(n) }),
    );
    await arrive('subscribers', records, ends);
    const n = facts.length - 1;
    const newest = facts[n]
      ? {
          status: 'confirmed',
          email: `n${n}@example.org`,
          address_key: `n${n}@example.org`,
          lists: [`l${n}`],
          attributes: { n },
        }
      : { status: 'deleted', email: null, address_key: null, lists: [], attributes: {} };
    expect(await rig.query('SELECT * FROM subscribers WHERE subscriber_id = $1', [subscriberId])).toMatchObject([
      { ...newest, fact_time: at(n) },
    ]);
  });

const suppressions = async () =>
  await holds(async (facts, order, ends) => {
    const email = `${randomUUID()}@example.org`;
    const ids = facts.map(() => randomUUID());
    const records = order.map((n) =>
      facts[n]
        ? eventRecord(
            'einmal.suppression.requested.v1',
            { email, scope: 'all', reason: 'complaint', expiresAt: at(n + 7200).toISOString() },
            { time: at(n), id: ids[n] ?? '' },
          )
        : eventRecord(
            'einmal.suppression.lift-requested.v1',
            { email, scope: 'all', by: 'grace', reason: 'asked' },
            { time: at(n), id: ids[n] ?? '' },
          ),
    );
    await arrive('suppressions', records, ends);
    const n = facts.length - 1;
    expect(await rig.query('SELECT * FROM suppressions WHERE address_key = $1', [email])).toMatchObject([
      { active: facts[n], cause: ids[n], fact_time: at(n), expires_at: facts[n] ? at(n + 7200) : null },
    ]);
    // The last thing that peers are told is what is.
    const told = (await rig.events()).filter((event) => event.data['addressHash'] === addressHash(email));
    expect(told.at(-1)?.type ?? 'einmal.suppression.lifted.v1').toBe(
      `einmal.suppression.${facts[n] ? 'added' : 'lifted'}.v1`,
    );
  });

const approvals = async () =>
  await holds(async (facts, order, ends) => {
    const object = `page:${randomUUID()}`;
    const records = order.map((n) =>
      facts[n]
        ? eventRecord(
            'einmal.approval.granted.v1',
            { object, revision: 3, hash: HASH, approvedBy: `by-${n}` },
            { time: at(n) },
          )
        : eventRecord('einmal.approval.withdrawn.v1', { object, revision: 3, by: `by-${n}` }, { time: at(n) }),
    );
    await arrive('approvals', records, ends);
    const n = facts.length - 1;
    expect(await rig.query('SELECT * FROM approvals WHERE object = $1', [object])).toMatchObject([
      { granted: facts[n], decided_by: `by-${n}`, hash: facts[n] ? HASH : null, fact_time: at(n) },
    ]);
  });

describe('of facts about one thing the one with the newest time wins, whatever order they arrive in', () => {
  it('subscribers', async () => await expect(subscribers()).resolves.toBeUndefined());

  it('suppressions', async () => await expect(suppressions()).resolves.toBeUndefined());

  it('approvals', async () => await expect(approvals()).resolves.toBeUndefined());

  it.each([
    ['upsert-subscribers.sql', 's', subscribers],
    ['upsert-suppressions.sql', 's', suppressions],
    ['store-approvals.sql', 'a', approvals],
  ])('guard: %s without the comparison would let the last arrival win', async (file, alias, property) => {
    using _cut = cutGuard(file, `WHERE ${alias}.fact_time <= excluded.fact_time`);
    await expect(property()).rejects.toThrow('Property failed');
  });
});

const lift = (email: string, tenantId: string, reason: string) =>
  eventRecord(
    'einmal.suppression.lift-requested.v1',
    { email, scope: 'all', by: 'grace', reason },
    { id: '1', tenantId, source: `/${tenantId}` },
  );
const add = (email: string, tenantId: string) =>
  eventRecord('einmal.suppression.requested.v1', { email, scope: 'all', reason: 'manual' }, { tenantId });

describe('the same id from two sources', () => {
  it('is two facts: each change is told with its own words, under its own tenant', async () => {
    const consumer = rig.consumer('suppressions', handlers);
    await consumer.take([add('one@example.org', 'demo'), add('two@example.org', 'other')]);
    await consumer.take([
      lift('one@example.org', 'demo', 'reason of demo'),
      lift('two@example.org', 'other', 'reason of other'),
    ]);
    const told = new Map((await rig.events()).map((event) => [event.data['addressHash'], event.data['reason']]));
    expect(told.get(addressHash('one@example.org'))).toBe('reason of demo');
    expect(told.get(addressHash('two@example.org'))).toBe('reason of other');
  });

  it('an address twice in one batch, in another case: one suppression, one event', async () => {
    await rig
      .consumer('suppressions', handlers)
      .take([add('Grace@Example.org', 'demo'), add('grace@example.ORG', 'demo')]);
    expect(await rig.query(`SELECT FROM suppressions WHERE address_key = 'grace@example.org'`)).toHaveLength(1);
    const told = (await rig.events()).filter((event) => event.data['addressHash'] === addressHash('grace@example.org'));
    expect(told).toHaveLength(1);
  });
});
