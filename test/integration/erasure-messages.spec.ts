import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { deliveryPublisher } from '../../src/dispatch/publish-delivery.ts';
import { appendToOutbox } from '../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../src/messaging/outbox/outbox-entry.ts';
import { seedBuckets } from '../../src/messaging/outbox/outbox-statements.ts';
import { suppressUndelivered } from '../../src/operations/suppress-undelivered.ts';
import type { OutgoingMail } from '../../src/providers/provider.port.ts';
import { SubscriberFactsHandler } from '../../src/subscribers/subscriber-facts.handler.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { drain, FakeBroker, relayOf } from '../support/relay-rig.ts';
import { bury, emptied, erase, goOn, reportOf, subscribe, tablesWith } from './erasure-ground.ts';
import { put } from './retention-ground.ts';

let rig: DispatchRig;
const ADA = { email: 'ada@example.com' };

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => {
  await rig.reset();
  await rig.query('TRUNCATE erasures, dead_letters');
});

describe('dead letters', () => {
  it.each([
    ['in the value, in any case', { value: '{"email":"ADA@Example.COM"}' }],
    ['in text that is no JSON', { value: 'to: <ada@example.com>, and {' }],
    ['in the key', { key: 'demo/ada@example.com', value: '{}' }],
    ['in a header', { value: '{}', headers: [['ce_subject', 'ada@example.com']] as const }],
    ['behind an escape', { value: String.raw`{"text":"Dear\nada@example.com"}` }],
    [
      'beside bytes that are no text',
      { value: Buffer.concat([Buffer.from([0xff, 0, 0x80]), Buffer.from('ada@example.com')]) },
    ],
    ['at the end of a sentence', { value: 'write to ada@example.com.' }],
    ['in an address bar', { value: 'https://x.example/?email=ada@example.com&x=1' }],
  ])('that hold the address %s lose their bytes, and keep the reason', async (_name, letter) => {
    const at = await bury(rig, letter);
    expect(await reportOf(rig, ADA)).toMatchObject({ deadLetters: 1 });
    expect(await emptied(rig)).toEqual([at]);
    expect(await rig.query('SELECT reason, detail FROM dead_letters')).toEqual([
      { reason: 'wrong-schema', detail: 'a rule' },
    ]);
  });

  it.each([
    ['of another person', { value: '{"email":"lada@example.com"}' }],
    ['of a longer name', { value: '{"email":"x.ada@example.com"}' }],
    ['of another domain', { value: '{"email":"ada@example.com.ar"}' }],
    ['of another domain yet', { value: '{"email":"ada@example.community"}' }],
    ['of another tenant', { tenant: 'other', value: 'ada@example.com' }],
    [
      'of nobody, whose header names another tenant',
      {
        tenant: null,
        value: 'ada@example.com',
        headers: [['CE_tenantid', 'other']] as const,
      },
    ],
  ])('%s stay', async (_name, letter) => {
    await bury(rig, letter);
    expect(await reportOf(rig, ADA)).toMatchObject({ deadLetters: 0 });
    expect(await emptied(rig)).toEqual([]);
  });

  it('that name no tenant are among them', async () => {
    const at = [
      await bury(rig, { tenant: null, value: 'ada@example.com' }),
      await bury(rig, { tenant: null, value: 'ada@example.com', headers: [['ce_tenantid', 'demo']] }),
    ];
    await erase(rig, ADA);
    expect(await emptied(rig)).toEqual(at);
  });

  it('are gone through in pages', async () => {
    for (let index = 0; index < 230; index++)
      await bury(rig, { value: index % 2 ? 'ada@example.com' : 'eve@example.com' });
    expect(await reportOf(rig, ADA)).toMatchObject({ deadLetters: 115 });
  });

  it('may hold an address in the letters of its language, escaped or not', async () => {
    const person = { email: 'Émilie@bücher.example' };
    const at = [
      await bury(rig, { value: '{"email":"émilie@bücher.example"}' }),
      await bury(rig, { value: String.raw`{"email":"\u00c9milie@xn--bcher-kva.example"}` }),
      await bury(rig, { value: '{"email":"E\u0301milie@B\u00dcCHER.example"}' }),
    ];
    await bury(rig, { value: '{"email":"emilie@bücher.example"}' });
    await erase(rig, person);
    expect(await emptied(rig)).toEqual(at);
  });
});

async function deliver(name: string): Promise<void> {
  await rig.request([name]);
  const { operation_id: reference } = await rig.operation(name);
  const mail: OutgoingMail = {
    kind: 'email',
    reference,
    envelope: { from: 'news@einmal.example', to: `${name}@example.com` },
    parts: {
      from: { name: null, address: 'news@einmal.example' },
      replyTo: null,
      to: `${name}@example.com`,
      subject: 'x',
      html: null,
      text: 'x',
      headers: {},
    },
    raw: () => Buffer.from(''),
    about: {
      tenantId: 'demo',
      operationKey: name,
      payloadHash: `sha256:${'0'.repeat(64)}`,
      class: 'transactional',
      campaignId: null,
    },
  };
  const publish = deliveryPublisher(rig.dataSource, rig.events, rig.outbox);
  expect(await publish('main', mail)).toMatchObject({ kind: 'accepted' });
  await put(rig, name, 'accepted', 0);
}

describe('a delivery to a peer that waits in the outbox', () => {
  it('is not published: the peer is told nothing, and everybody that the operation is suppressed', async () => {
    await deliver('ada');
    await deliver('eve');
    expect(await tablesWith(rig, 'ada@example.com')).toContain('outbox');
    expect(await reportOf(rig, ADA)).toMatchObject({ deliveries: 1 });
    expect(await tablesWith(rig, 'ada@example.com')).toEqual([]);
    await seedBuckets.run(rig.dataSource, { buckets: 4 });
    const broker = new FakeBroker();
    await drain(relayOf(rig.dataSource, broker, {}, async (keys) => await suppressUndelivered(rig.dataSource, keys)));
    const types = broker.stored.map(({ headers }) => String(headers['ce_type']));
    expect(types.toSorted()).toEqual(['einmal.delivery.requested.v1', 'einmal.operation.suppressed.v1']);
    expect([(await rig.operation('ada')).state, (await rig.operation('eve')).state]).toEqual([
      'suppressed',
      'accepted',
    ]);
  });
});

describe('einmal.subscriber.deleted', () => {
  const handler = new SubscriberFactsHandler();

  async function deleted(...facts: readonly { readonly id: string; readonly erase?: boolean }[]): Promise<void> {
    const events = facts.map(({ id, ...flags }) => ({
      id: randomUUID(),
      source: '/crm',
      type: 'einmal.subscriber.deleted.v1',
      tenantId: 'demo',
      time: new Date(),
      data: { subscriberId: id, ...flags },
    }));
    await rig.inTransaction(async (tx) => {
      const outbox: OutboxEntry[] = [];
      await handler.deleted({ events, tx, outbox });
      await appendToOutbox(tx, outbox, rig.outbox);
    });
  }

  it('with erase erases what is known of the subscriber, in the pages of the maintenance', async () => {
    await subscribe(rig, 's1', 'ada@example.com');
    await rig.request(['ada']);
    await deleted({ id: 's1', erase: true });
    expect(await tablesWith(rig, 'ada@example.com')).toEqual(['erasures', 'operation_requests', 'operations']);
    await goOn(rig);
    expect(await tablesWith(rig, 'ada@example.com')).toEqual([]);
    expect(await rig.operation('ada')).toMatchObject({ state: 'cancelled', state_reason: 'erased' });
    expect(await rig.query('SELECT actor, reason, after FROM audit')).toEqual([
      {
        actor: '/crm',
        reason: 'einmal.subscriber.deleted',
        after: expect.objectContaining({ subscribers: 1, operations: 1, cancelled: 1 }),
      },
    ]);
  });

  it('without erase empties the subscriber alone', async () => {
    await subscribe(rig, 's1', 'ada@example.com');
    await rig.request(['ada']);
    await deleted({ id: 's1' });
    expect(await goOn(rig)).toBe(0);
    expect(await rig.operation('ada')).toMatchObject({ state: 'queued' });
    expect(await rig.query('SELECT status, email FROM subscribers')).toEqual([{ status: 'deleted', email: null }]);
  });

  it('twice for one subscriber, once with erase, erases once', async () => {
    await subscribe(rig, 's1', 'ada@example.com');
    await deleted({ id: 's1', erase: true }, { id: 's1' }, { id: 's1', erase: true }, { id: 's2', erase: true });
    expect(await rig.query('SELECT FROM erasures')).toHaveLength(2);
    await goOn(rig);
    expect(await rig.query('SELECT FROM audit')).toHaveLength(2);
  });
});
