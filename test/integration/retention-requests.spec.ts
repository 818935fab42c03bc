import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { inTransaction } from '../../src/database/in-transaction.ts';
import type { DataOf } from '../../src/messaging/contracts/registry.ts';
import type { ConsumedRecord } from '../../src/messaging/kafka/record-chunk.ts';
import { operationId } from '../../src/operations/operation-id.ts';
import { payloadHash } from '../../src/operations/payload-hash.ts';
import { insertOperations } from '../../src/operations/request-operations/insert-operations.ts';
import { forgetKeys } from '../../src/retention/forget-keys.ts';
import { scrubPayloads } from '../../src/retention/scrub-payloads.ts';
import { gateAt } from '../../src/runtime/signal.ts';
import { cutGuard } from '../support/cut-guard.ts';
import { domainHandlers } from '../support/domain-handlers.ts';
import { eventually } from '../support/eventually.ts';
import { eventRecord, openMessagingRig, type MessagingRig } from '../support/messaging-rig.ts';
import { RETENTION } from './retention-ground.ts';

vi.mock('../../src/database/statement.ts', async (original) =>
  (await import('../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
const handlers = domainHandlers();

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
});
beforeEach(async () => {
  await rig.query(
    'TRUNCATE operations, operation_requests, operation_tombstones, receipts, outbox, inbox, dead_letters',
  );
});
afterAll(async () => await rig.close());

const DAY_MS = 86_400_000;
type EmailRequest = Extract<DataOf<'einmal.operation.requested.v1'>, { kind: 'email' }>;

function dataOf(operationKey: string, to = 'ada@example.org'): EmailRequest {
  return { operationKey, kind: 'email', request: { to, subject: 'Your order', text: 'Thank you.' } };
}
const requested = (key: string, daysAgo = 0, to?: string): ConsumedRecord =>
  eventRecord('einmal.operation.requested.v1', dataOf(key, to), { time: new Date(Date.now() - daysAgo * DAY_MS) });
const cancelled = (key: string): ConsumedRecord =>
  eventRecord('einmal.operation.cancel-requested.v1', { operationKey: key, by: 'grace' });
const receipt = (key: string, type: 'delivered' | 'bounced'): ConsumedRecord =>
  eventRecord('einmal.receipt.reported.v1', {
    provider: 'main',
    receiptId: randomUUID(),
    reference: operationId('demo', key),
    type,
    occurredAt: new Date().toISOString(),
    email: 'ada@example.org',
  });

const take = async (...records: ConsumedRecord[]): Promise<void> => {
  expect(await rig.consumer('operations', handlers).take(records)).toEqual({ kind: 'done' });
};
const report = async (record: ConsumedRecord): Promise<void> => {
  expect(await rig.consumer('receipts', handlers).take([record])).toEqual({ kind: 'done' });
};
const told = async () =>
  (await rig.events()).map(({ type, data }) => ({ ...data, type: type.replace(/^einmal\.operation\.|\.v1$/g, '') }));
const operations = async () => await rig.query('SELECT operation_key, state FROM operations ORDER BY operation_key');

/** Ended so many days ago. */
async function end(key: string, days: number): Promise<void> {
  await rig.query(
    `UPDATE operations SET state = 'accepted', claim_seq = 1, changed_at = now() - make_interval(days => $2)
     WHERE operation_key = $1`,
    [key, days],
  );
}

async function sweep(retention = RETENTION): Promise<void> {
  for await (const _ of scrubPayloads(rig.dataSource, [retention], 100));
  for await (const _ of forgetKeys(rig.dataSource, [retention], 100));
}

async function forgotten(key: string): Promise<void> {
  await take(requested(key));
  await end(key, 401);
  await sweep();
  await rig.query('TRUNCATE outbox');
}

/** Takes the record while the key is being forgotten, so that it waits for the deletion. */
async function takenWhileForgotten(key: string, record: ConsumedRecord): Promise<void> {
  await take(requested(key));
  await end(key, 401);
  for await (const _ of scrubPayloads(rig.dataSource, [RETENTION], 100));
  await rig.query('TRUNCATE outbox');
  using gate = gateAt('forget.before-commit');
  const forgetting = (async () => {
    for await (const _ of forgetKeys(rig.dataSource, [RETENTION], 100));
  })();
  await gate.reached;
  const asking = take(record);
  await eventually('the request to wait for the deletion', 10_000, async () => {
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await rig.query(waiting)).length > 0;
  });
  gate.open();
  await Promise.all([forgetting, asking]);
}

describe('an operation whose payload was scrubbed', () => {
  beforeEach(async () => {
    await take(requested('a'));
    await end('a', 31);
    await sweep();
    await rig.query('TRUNCATE outbox');
  });

  it('is still the same operation when it is asked for again, and a conflict with another payload', async () => {
    await take(requested('a'), requested('a', 0, 'eve@example.org'));
    expect(await told()).toMatchObject([
      { type: 'duplicated', state: 'accepted', payloadHash: payloadHash(dataOf('a')) },
      { type: 'conflicted', payloadHash: payloadHash(dataOf('a')) },
    ]);
    expect(await rig.query('SELECT FROM operation_requests')).toEqual([]);
  });

  it('takes a late receipt, whose content is not kept', async () => {
    await report(receipt('a', 'bounced'));
    expect(await rig.query('SELECT type, content, unmatched FROM receipts')).toEqual([
      { type: 'bounced', content: {}, unmatched: false },
    ]);
    expect(await operations()).toEqual([{ operation_key: 'a', state: 'bounced' }]);
  });

  it('guard: without the look after the receipt is stored, its content would stay', async () => {
    using _cut = cutGuard('blank-receipts.sql', 'o.scrubbed_at IS NOT NULL', 'false');
    await report(receipt('a', 'bounced'));
    expect(await rig.query('SELECT FROM receipts WHERE content::text LIKE $1', ['%ada@%'])).toHaveLength(1);
  });
});

describe('a receipt', () => {
  it('of an operation that is not scrubbed keeps its content', async () => {
    await take(requested('a'));
    await end('a', 1);
    await report(receipt('a', 'delivered'));
    expect(await rig.query(`SELECT content ->> 'email' AS email, unmatched FROM receipts`)).toEqual([
      { email: 'ada@example.org', unmatched: false },
    ]);
  });

  it('of an operation that is not there is marked, for nothing else would ever remove it', async () => {
    await report(receipt('nobody', 'delivered'));
    expect(await rig.query('SELECT unmatched FROM receipts')).toEqual([{ unmatched: true }]);
  });
});

describe('a key that was forgotten', () => {
  it('with a tombstone is refused by name, and nothing is inserted', async () => {
    await forgotten('a');
    await take(requested('a'), requested('b'), requested('a', 0, 'eve@example.org'));
    expect(await told()).toMatchObject([
      {
        type: 'rejected',
        state: 'rejected',
        operationKey: 'a',
        operationId: operationId('demo', 'a'),
        reason: 'too-old-to-deduplicate',
        payloadHash: payloadHash(dataOf('a')),
      },
      { type: 'queued', operationKey: 'b' },
      { type: 'rejected', operationKey: 'a', payloadHash: payloadHash(dataOf('a', 'eve@example.org')) },
    ]);
    expect(await operations()).toEqual([{ operation_key: 'b', state: 'queued' }]);
    expect(await rig.query('SELECT FROM operation_requests')).toHaveLength(1);
  });

  it('guard: without the look at tombstones it would be executed a second time', async () => {
    await forgotten('a');
    using _cut = cutGuard(
      'withdraw-forgotten.sql',
      'JOIN operation_tombstones t ON t.tenant_id',
      'JOIN operation_tombstones t ON false AND t.tenant_id',
    );
    await take(requested('a'));
    expect(await operations()).toEqual([{ operation_key: 'a', state: 'queued' }]);
  });

  it('of another tenant is not a key of this one', async () => {
    await forgotten('a');
    await rig.query(`UPDATE operation_tombstones SET tenant_id = 'other'`);
    await take(requested('a'));
    expect(await operations()).toEqual([{ operation_key: 'a', state: 'queued' }]);
  });

  it('without a tombstone is a new operation', async () => {
    await take(requested('a'));
    await end('a', 401);
    await sweep({ ...RETENTION, afterKeyRetention: 'nothing' });
    expect(await operations()).toEqual([]);
    await take(requested('a'));
    expect(await operations()).toEqual([{ operation_key: 'a', state: 'queued' }]);
  });

  it('is refused also when it is being forgotten at that moment', async () => {
    await takenWhileForgotten('a', requested('a'));
    expect(await operations()).toEqual([]);
    expect(await told()).toMatchObject([{ type: 'rejected', reason: 'too-old-to-deduplicate' }]);
  });

  it('cannot be cancelled when it is being forgotten at that moment', async () => {
    await takenWhileForgotten('a', cancelled('a'));
    expect(await operations()).toEqual([]);
    expect(await rig.query('SELECT FROM operation_tombstones')).toHaveLength(1);
  });

  it('cannot be cancelled, which would leave a row for a key that is over', async () => {
    await forgotten('a');
    await take(cancelled('a'));
    expect(await operations()).toEqual([]);
  });

  it('is not inserted by a campaign either', async () => {
    await forgotten('a');
    const inserted = await inTransaction(
      rig.dataSource,
      'test',
      async (tx) => await insertOperations(tx, [campaignOf('a')]),
    );
    expect(inserted).toEqual([]);
    expect(await operations()).toEqual([]);
  });
});

describe('a request that is older than its tenant remembers keys', () => {
  it('is refused by name when the key is not known, and answered when it is', async () => {
    await take(requested('known'));
    await rig.query('TRUNCATE outbox');
    await take(requested('unknown', 401), requested('known', 401), requested('young', 399));
    expect(await told()).toMatchObject([
      { type: 'rejected', operationKey: 'unknown', reason: 'too-old-to-deduplicate' },
      { type: 'duplicated', operationKey: 'known', state: 'queued' },
      { type: 'queued', operationKey: 'young' },
    ]);
    expect(await operations()).toEqual([
      { operation_key: 'known', state: 'queued' },
      { operation_key: 'young', state: 'queued' },
    ]);
  });

  it('does not take the answer of a younger one in the same batch', async () => {
    await take(requested('a', 401), requested('a'));
    expect(await told()).toMatchObject([
      { type: 'duplicated', operationKey: 'a' },
      { type: 'queued', operationKey: 'a' },
    ]);
    expect(await operations()).toEqual([{ operation_key: 'a', state: 'queued' }]);
  });

  it('guard: without the comparison it would be executed', async () => {
    using _cut = cutGuard('find-too-old.sql', 'WHERE i.asked_at <', 'WHERE false AND i.asked_at <');
    await take(requested('a', 401));
    expect(await operations()).toEqual([{ operation_key: 'a', state: 'queued' }]);
  });
});

function campaignOf(key: string): Parameters<typeof insertOperations>[1][number] {
  return {
    tenantId: 'demo',
    operationId: operationId('demo', key),
    operationKey: key,
    kind: 'email',
    class: 'marketing',
    payloadHash: Buffer.alloc(32),
    hashVersion: 1,
    state: 'queued',
    stateReason: null,
    provider: 'main',
    priority: 5,
    campaign: { campaignId: 'c', revision: 1, subscriberId: 's' },
    addressKey: 'ada@example.org',
    lists: [],
    approval: null,
    approvalHash: null,
    stepReferences: [],
    notBefore: null,
    deadline: null,
    maxAttempts: 12,
    onUnknown: 'hold',
    causationId: null,
    traceparent: null,
    request: {},
  };
}
