import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { OutboxRecipient } from '../../../src/messaging/outbox/outbox-entry.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';
import { append, drain, entryOf, FakeBroker, relayOf, resetOutbox } from '../../support/relay-rig.ts';

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

const delivery = (id: string, recipient: Partial<OutboxRecipient> = {}) =>
  entryOf(id, 'k', {
    recipient: {
      tenantId: 'demo',
      addressKey: 'ada@example.org',
      class: 'marketing',
      lists: ['news'],
      instead: entryOf(`${id}-instead`, 'other', { topic: 'rig.events.v1', value: null }),
      ...recipient,
    },
  });

const suppress = async (scope: string, parts: { tenant?: string; active?: boolean; expires?: string } = {}) => {
  await rig.query(
    `INSERT INTO suppressions (tenant_id, address_key, scope, key_version, reason, active, cause, fact_time, expires_at)
     VALUES ($1, 'ada@example.org', $2, 1, 'manual', $3, 'test', now(), now() + $4::interval)`,
    [parts.tenant ?? 'demo', scope, parts.active ?? true, parts.expires ?? null],
  );
};

const published = async (recipient: Partial<OutboxRecipient> = {}): Promise<string[]> => {
  await append(rig.dataSource, [entryOf('before', 'k'), delivery('d', recipient), entryOf('after', 'k')]);
  await drain(relayOf(rig.dataSource, broker));
  return broker.ids();
};

describe('a message that addresses a person', () => {
  it('is published while nobody has suppressed the address', async () => {
    expect(await published()).toEqual(['before', 'd', 'after']);
  });

  it.each(['all', 'marketing', 'list:news'])(
    'is replaced when the address is suppressed by then for %s',
    async (scope) => {
      await suppress(scope);
      expect(await published()).toEqual(['before', 'd-instead', 'after']);
      expect(broker.stored[1]).toMatchObject({ topic: 'rig.events.v1', key: Buffer.from('other'), value: null });
      expect(await rig.query('SELECT FROM outbox')).toEqual([]);
    },
  );

  it.each([
    ['another list', async () => await suppress('list:other')],
    ['another tenant', async () => await suppress('all', { tenant: 'other' })],
    ['a lifted one', async () => await suppress('all', { active: false })],
    ['an expired one', async () => await suppress('all', { expires: '-1 second' })],
  ])('is not stopped by a suppression of %s', async (_name, prepare) => {
    await prepare();
    expect(await published()).toEqual(['before', 'd', 'after']);
  });

  it.each([
    { scopes: ['marketing', 'list:news'], middle: 'd' },
    { scopes: ['all'], middle: 'd-instead' },
  ])('of the class transactional, suppressed for $scopes: $middle', async ({ scopes, middle }) => {
    for (const scope of scopes) await suppress(scope);
    expect(await published({ class: 'transactional' })).toEqual(['before', middle, 'after']);
  });

  it('is asked about at each publish: an opt-out during an outage counts', async () => {
    broker.answers = [
      () => ({ stored: 0, outcome: { kind: 'unavailable', code: 'x', retryable: true, acknowledged: 0 } }),
    ];
    await append(rig.dataSource, [delivery('d')]);
    const relay = relayOf(rig.dataSource, broker);
    await expect(relay.runOnce(new AbortController().signal)).rejects.toThrow('the broker did not take');
    await suppress('all');
    await drain(relay);
    expect(broker.ids()).toEqual(['d-instead']);
  });

  it('guard: without the join it would be published', async () => {
    await suppress('all');
    using _cut = cutGuard('read-outbox.sql', ') s ON o.recipient_key IS NOT NULL', ') s ON false');
    expect(await published()).toEqual(['before', 'd', 'after']);
  });
});
