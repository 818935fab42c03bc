import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { DataOf } from '../../../src/messaging/contracts/registry.ts';
import type { ConsumedRecord } from '../../../src/messaging/kafka/record-chunk.ts';
import { payloadHash } from '../../../src/operations/payload-hash.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { domainHandlers } from '../../support/domain-handlers.ts';
import { eventRecord, openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

vi.mock('../../../src/database/statement.ts', async (original) =>
  (await import('../../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
const handlers = domainHandlers();

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'), 60);
});
afterAll(async () => {
  await rig.close();
});

type Request = DataOf<'einmal.operation.requested.v1'>;
type EmailRequest = Extract<Request, { kind: 'email' }>;

function dataOf(operationKey: string, parts: Partial<EmailRequest> = {}, to = 'ada@example.org'): EmailRequest {
  return { operationKey, kind: 'email', request: { to, subject: 'Your order', text: 'Thank you.' }, ...parts };
}
const requested = (key: string, parts: Partial<EmailRequest> = {}, to?: string) =>
  eventRecord('einmal.operation.requested.v1', dataOf(key, parts, to));
const cancelled = (operationKey: string, reason?: string) =>
  eventRecord('einmal.operation.cancel-requested.v1', {
    operationKey,
    by: 'grace',
    ...(reason === undefined ? {} : { reason }),
  });

const take = async (...records: ConsumedRecord[]) => {
  expect(await rig.consumer('operations', handlers).take(records)).toEqual({ kind: 'done' });
};
type Told = Readonly<Record<string, unknown>> & { readonly type: string };
const told = async (key: string) =>
  (await rig.events())
    .filter((event) => event.data['operationKey'] === key)
    .map(({ type, data }): Told => ({ ...data, type: type.replace(/^einmal\.operation\.|\.v1$/g, '') }));
const rows = async (key: string) =>
  await rig.query<{ state: string; state_reason: string | null }>('SELECT * FROM operations WHERE operation_key = $1', [
    key,
  ]);
const deadLettersOf = async (record: ConsumedRecord) =>
  (await rig.deadLetters()).filter((row) => row.record_offset === String(record.offset));

describe('an operation that is asked for', () => {
  it('twice with the same payload is duplicated with its state, in one batch and later', async () => {
    const key = randomUUID();
    await take(requested(key), requested(key));
    await rig.query(
      `UPDATE operations SET state = 'rejected', state_reason = 'smtp-550', attempts = 1 WHERE operation_key = $1`,
      [key],
    );
    await take(requested(key, { priority: 9, deadline: '2099-01-01T00:00:00Z' }));
    expect(await told(key)).toMatchObject([
      { type: 'queued', state: 'queued' },
      { type: 'duplicated', state: 'queued' },
      { type: 'duplicated', state: 'rejected', reason: 'smtp-550', attempt: 1 },
    ]);
    expect(await rows(key)).toHaveLength(1);
  });

  it('with another payload is conflicted with both hashes, and the first stays what it was', async () => {
    const key = randomUUID();
    await take(requested(key), requested(key, {}, 'grace@example.org'));
    await take(requested(key, { class: 'marketing' }));
    const first = payloadHash(dataOf(key));
    expect(await told(key)).toMatchObject([
      { type: 'queued', payloadHash: first },
      { type: 'conflicted', payloadHash: first, refusedPayloadHash: payloadHash(dataOf(key, {}, 'grace@example.org')) },
      { type: 'conflicted', payloadHash: first, refusedPayloadHash: payloadHash(dataOf(key, { class: 'marketing' })) },
    ]);
    expect(await rows(key)).toMatchObject([{ state: 'queued', address_key: 'ada@example.org' }]);
  });

  it('under the same key by two tenants is two operations', async () => {
    const key = randomUUID();
    await take(requested(key), eventRecord('einmal.operation.requested.v1', dataOf(key), { tenantId: 'other' }));
    expect(await rows(key)).toHaveLength(2);
  });

  it('200 times in parallel is one row, one `queued` and 199 `duplicated`', async () => {
    const key = randomUUID();
    await Promise.all(Array.from({ length: 200 }, async () => await take(requested(key))));
    expect(await rows(key)).toHaveLength(1);
    const types = (await told(key)).map(({ type }) => type);
    expect(types.filter((type) => type === 'queued')).toHaveLength(1);
    expect(types.filter((type) => type === 'duplicated')).toHaveLength(199);
    expect(await rig.deadLetters()).toEqual([]);
  });

  it('in 20 shuffled batches of the same 50 keys in parallel: each key queued once, none lost', async () => {
    const keys = Array.from({ length: 50 }, () => randomUUID());
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        await take(...keys.toSorted(() => Math.random() - 0.5).map((key) => requested(key)));
      }),
    );
    const types = (await rig.events()).filter((event) => new Set<unknown>(keys).has(event.data['operationKey']));
    expect(types.filter(({ type }) => type === 'einmal.operation.queued.v1')).toHaveLength(50);
    expect(types.filter(({ type }) => type === 'einmal.operation.duplicated.v1')).toHaveLength(950);
  });

  it('after its deadline is expired, never queued; again it is a duplicate of that', async () => {
    const key = randomUUID();
    const late = { deadline: '2020-01-01T00:00:00Z' };
    await take(requested(key, late));
    await take(requested(key, late));
    expect(await told(key)).toMatchObject([
      { type: 'expired', state: 'expired' },
      { type: 'duplicated', state: 'expired' },
    ]);
  });

  it('guard: without the comparison it would be queued', async () => {
    using _cut = cutGuard(
      'insert-operations.sql',
      "AND i.deadline <= now() THEN 'expired'",
      "AND false THEN 'expired'",
    );
    const key = randomUUID();
    await take(requested(key, { deadline: '2020-01-01T00:00:00Z' }));
    expect(await rows(key)).toMatchObject([{ state: 'queued' }]);
  });

  it('for an address that cannot be mailed is rejected with the rule, and told so', async () => {
    const key = randomUUID();
    await take(requested(key, {}, 'ada@localhost'));
    expect(await told(key)).toMatchObject([
      { type: 'rejected', state: 'rejected', reason: 'request.to: the domain has only one label' },
    ]);
  });

  it('of kind http, whose endpoint nobody configured, is rejected and told so', async () => {
    const key = randomUUID();
    await take(
      eventRecord('einmal.operation.requested.v1', {
        operationKey: key,
        kind: 'http',
        request: { endpoint: 'crm', method: 'POST', path: '/x' },
      }),
    );
    expect(await told(key)).toMatchObject([{ type: 'rejected' }]);
  });
});

describe('a cancellation that arrives first', () => {
  it.each(['in a chunk of its own', 'in the same chunk'])(
    '%s leaves a cancelled operation for the request',
    async (how) => {
      const key = randomUUID();
      if (how === 'in the same chunk') await take(cancelled(key), requested(key));
      else {
        await take(cancelled(key));
        await take(cancelled(key));
        await take(requested(key));
      }
      await take(requested(key), requested(key, {}, 'grace@example.org'));
      expect(await rows(key)).toMatchObject([{ state: 'cancelled', state_reason: 'cancelled by grace' }]);
      expect((await told(key)).map((each) => [each.type, each['state']])).toEqual([
        ['cancelled', 'cancelled'],
        ['duplicated', 'cancelled'],
        ['conflicted', 'cancelled'],
      ]);
    },
  );

  it.each([
    ['for an address that cannot be mailed', (key: string) => requested(key, {}, 'ada@localhost')],
    ['after its deadline', (key: string) => requested(key, { deadline: '2020-01-01T00:00:00Z' })],
    ['that waits for an approval', (key: string) => requested(key, { approval: { object: 'page', revision: 1 } })],
  ])('is found also by a request %s', async (_name, request) => {
    const key = randomUUID();
    const record = request(key);
    await take(cancelled(key));
    await take(record);
    expect(await deadLettersOf(record)).toEqual([]);
    expect(await rows(key)).toMatchObject([{ state: 'cancelled' }]);
    expect((await told(key)).map(({ type }) => type)).toEqual(['cancelled']);
  });

  it('and at the same moment: cancelled in the end, told once', async () => {
    for (let round = 0; round < 10; round++) {
      const key = randomUUID();
      await Promise.all([take(cancelled(key)), take(requested(key))]);
      expect(await rows(key)).toMatchObject([{ state: 'cancelled' }]);
      expect((await told(key)).filter(({ type }) => type === 'cancelled')).toHaveLength(1);
    }
  });
});

describe('a cancellation that arrives later', () => {
  it('ends what is queued, and is told when it is too late', async () => {
    const key = randomUUID();
    await take(requested(key), cancelled(key, 'order was cancelled'), cancelled(key));
    expect(await told(key)).toMatchObject([
      { type: 'queued' },
      { type: 'cancelled', state: 'cancelled', reason: 'cancelled by grace: order was cancelled' },
      { type: 'duplicated', state: 'cancelled' },
    ]);
  });
});
