import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ConsumedType } from '../../../src/messaging/contracts/registry.ts';
import type { TopicName } from '../../../src/messaging/topics.ts';
import { revisionOf } from '../../support/campaign.ts';
import { domainHandlers } from '../../support/domain-handlers.ts';
import { eventRecord, openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

let rig: MessagingRig;
const handlers = domainHandlers();

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => {
  await rig.close();
});

const ODD = 'a\u0000b\ud800c\udc00d\u0007\r\n\u202e😀\\u0000 \'";--';
const ESCAPED = 'a\\u0000b\\ud800c\\udc00d\u0007\r\n\u202e😀\\u0000 \'";--';

/** An event whose data is what JSON.parse gives for it, also where the types would not allow it. */
const odd = (type: ConsumedType, data: Readonly<Record<string, unknown>>) => eventRecord(type, data as never);

async function take(topic: TopicName, ...records: ReturnType<typeof odd>[]): Promise<void> {
  expect(await rig.consumer(topic, handlers).take(records)).toEqual({ kind: 'done' });
}

const deadOnes = async (): Promise<number> => (await rig.deadLetters()).length;

describe('free content of any characters is accepted and kept', () => {
  it('attributes of a subscriber, names and values', async () => {
    const attributes = { [ODD]: ODD, nested: { list: [ODD] } };
    const base = { email: 'ada@example.org', status: 'confirmed', lists: [] };
    await take('subscribers', odd('einmal.subscriber.upserted.v1', { ...base, subscriberId: 's1', attributes }));
    expect(await rig.query(`SELECT attributes FROM subscribers WHERE subscriber_id = 's1'`)).toEqual([{ attributes }]);
    expect(await deadOnes()).toBe(0);
  });

  it('the body of an operation', async () => {
    const operationKey = randomUUID();
    const request = { to: 'ada@example.org', subject: 'x', text: ODD, data: { [ODD]: ODD } };
    await take('operations', odd('einmal.operation.requested.v1', { operationKey, kind: 'email', request }));
    const rows = await rig.query(
      'SELECT r.request, o.state FROM operation_requests r JOIN operations o USING (tenant_id, operation_id) WHERE o.operation_key = $1',
      [operationKey],
    );
    // The tenant's default sender is frozen with it.
    expect(rows).toMatchObject([{ request, state: 'queued' }]);
    expect(await deadOnes()).toBe(0);
  });

  it('the reasons of a cancellation, a pause, a lift and a withdrawal, escaped where PostgreSQL cannot hold them', async () => {
    const operationKey = randomUUID();
    const request = { to: 'ada@example.org', subject: 'x', text: 'x' };
    await take(
      'operations',
      odd('einmal.operation.requested.v1', { operationKey, kind: 'email', request }),
      odd('einmal.operation.cancel-requested.v1', { operationKey, by: 'grace', reason: ODD }),
    );
    await take(
      'campaigns',
      odd('einmal.campaign.revision-submitted.v1', { ...revisionOf('cmp_1') }),
      odd('einmal.campaign.cancel-requested.v1', { campaignId: 'cmp_1', by: 'grace', reason: ODD }),
    );
    await take(
      'approvals',
      odd('einmal.approval.withdrawn.v1', { object: 'page', revision: 1, by: 'grace', reason: ODD }),
    );
    await take(
      'suppressions',
      odd('einmal.suppression.requested.v1', { email: 'a@example.org', scope: 'all', reason: 'manual' }),
      odd('einmal.suppression.lift-requested.v1', { email: 'a@example.org', scope: 'all', by: 'grace', reason: ODD }),
    );
    expect(await deadOnes()).toBe(0);
    expect(await rig.query('SELECT state_reason FROM operations WHERE operation_key = $1', [operationKey])).toEqual([
      { state_reason: `cancelled by grace: ${ESCAPED}` },
    ]);
    expect(await rig.query(`SELECT state_reason FROM campaigns WHERE campaign_id = 'cmp_1'`)).toEqual([
      { state_reason: `grace: ${ESCAPED}` },
    ]);
    expect(await rig.query(`SELECT reason FROM approvals WHERE object = 'page'`)).toEqual([{ reason: ESCAPED }]);
    const reasons = (await rig.events()).map((event) => event.data['reason']);
    expect(reasons).toContain(`cancelled by grace: ${ESCAPED}`);
    expect(reasons).toContain(ODD);
  });

  it('a receipt', async () => {
    const data = {
      provider: 'main',
      receiptId: 'r1',
      reference: 'x',
      type: 'bounced',
      occurredAt: '2026-01-01T00:00:00Z',
      diagnostic: ODD,
    };
    await take('receipts', odd('einmal.receipt.reported.v1', data));
    expect(await rig.query(`SELECT content FROM receipts WHERE receipt_id = 'r1'`)).toEqual([{ content: data }]);
    expect(await deadOnes()).toBe(0);
  });

  it('a reason of full length stays within the contract of the event that repeats it', async () => {
    const operationKey = randomUUID();
    const request = { to: 'ada@example.org', subject: 'x', text: 'x' };
    await take(
      'operations',
      odd('einmal.operation.requested.v1', { operationKey, kind: 'email', request }),
      odd('einmal.operation.cancel-requested.v1', {
        operationKey,
        by: 'g'.repeat(256),
        reason: '\u0000'.repeat(500) + '😀'.repeat(250),
      }),
    );
    const event = (await rig.events()).find(
      ({ type, data }) => type.includes('cancelled') && data['operationKey'] === operationKey,
    );
    expect(event?.data['reason']).toSatisfy((text: string) => text.isWellFormed() && text.length >= 999);
  });
});

describe('text that names something is refused with such characters, and the dead letter has the bytes', () => {
  it.each<[string, TopicName, ConsumedType, Readonly<Record<string, unknown>>]>([
    ['subscriberId', 'subscribers', 'einmal.subscriber.deleted.v1', { subscriberId: 'a\u0000' }],
    ['subscriberId', 'subscribers', 'einmal.subscriber.deleted.v1', { subscriberId: 'a\ud800' }],
    ['subscriberId', 'subscribers', 'einmal.subscriber.deleted.v1', { subscriberId: 'a\r\nb' }],
    ['operationKey', 'operations', 'einmal.operation.cancel-requested.v1', { operationKey: 'a\u0000', by: 'x' }],
    ['operationKey', 'operations', 'einmal.operation.cancel-requested.v1', { operationKey: 'a\udfff', by: 'x' }],
    ['by', 'operations', 'einmal.operation.cancel-requested.v1', { operationKey: 'a', by: 'x\u0000' }],
    ['object', 'approvals', 'einmal.approval.withdrawn.v1', { object: 'a\ud800', revision: 1, by: 'x' }],
    [
      'scope',
      'suppressions',
      'einmal.suppression.requested.v1',
      { email: 'a@example.org', scope: 'list:\u0000', reason: 'manual' },
    ],
    [
      'email',
      'suppressions',
      'einmal.suppression.requested.v1',
      { email: 'a@example.org\r\nBcc: b@example.org', scope: 'all', reason: 'manual' },
    ],
    ['campaignId', 'campaigns', 'einmal.campaign.cancel-requested.v1', { campaignId: '\ud800', by: 'x' }],
    [
      'receiptId',
      'receipts',
      'einmal.receipt.reported.v1',
      { provider: 'm', receiptId: '\u0000', type: 'bounced', occurredAt: '2026-01-01T00:00:00Z' },
    ],
  ])('%s on %s', async (field, topic, type, data) => {
    const record = odd(type, data);
    await take(topic, record);
    const letter = (await rig.deadLetters()).at(-1);
    expect(letter).toMatchObject({
      reason: 'wrong-schema',
      record_value: record.value,
      record_offset: String(record.offset),
    });
    expect(letter?.detail).toMatch(new RegExp(`^${field}: must`));
  });

  it('an operation key may hold every other character, and is one key with it', async () => {
    const operationKey = `\u0001\r\n\t'"\\%{}😀/${randomUUID()}`;
    const request = { to: 'ada@example.org', subject: 'x', text: 'x' };
    const record = odd('einmal.operation.requested.v1', { operationKey, kind: 'email', request });
    await take('operations', record);
    expect(await rig.query('SELECT state FROM operations WHERE operation_key = $1', [operationKey])).toEqual([
      { state: 'queued' },
    ]);
  });
});
