import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { deliveryPublisher } from '../../../src/dispatch/publish-delivery.ts';
import { suppressUndelivered } from '../../../src/operations/suppress-undelivered.ts';
import { createKafkaPeer } from '../../../src/providers/kafka/kafka-peer.ts';
import type { Provider } from '../../../src/providers/provider.port.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { append, drain, entryOf, FakeBroker, relayOf } from '../../support/relay-rig.ts';
import { seedBuckets } from '../../../src/messaging/outbox/outbox-statements.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => {
  await rig.reset();
  await seedBuckets.run(rig.dataSource, { buckets: rig.outbox.buckets });
});

function peer(): Provider {
  const publish = deliveryPublisher(rig.dataSource, rig.events, rig.outbox);
  const config = {
    kind: 'kafka',
    providerName: 'main',
    connections: 4,
    rate: null,
    timeoutSeconds: 5,
    windowDays: 7,
    receiptWaitSeconds: 60,
  } as const;
  return createKafkaPeer(config, async (mail) => await publish('main', mail));
}

const relay = (broker: FakeBroker) =>
  relayOf(rig.dataSource, broker, {}, async (keys) => await suppressUndelivered(rig.dataSource, keys));

async function delivery(): Promise<Record<string, unknown>> {
  const [row] = await rig.query<{ data: Record<string, unknown> }>(
    `SELECT convert_from(message_value, 'UTF8')::json AS data FROM outbox WHERE recipient_key IS NOT NULL`,
  );
  return row?.data ?? {};
}

it('gets its deliveries by the outbox, under the operation id, and the operation is accepted', async () => {
  await rig.request(['a']);
  const worker = rig.worker({ provider: peer() });
  await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
  const { operation_id: operationId } = await rig.operation('a');
  expect(await delivery()).toMatchObject({
    operationId,
    operationKey: 'a',
    provider: 'main',
    attempt: 1,
    to: 'a@example.com',
    subject: 'For a',
    text: 'Hello a',
  });
  expect(await rig.eventsOf('a')).toEqual(['delivery.requested', 'operation.accepted']);
});

it('gets nothing for who is suppressed before it is published, and the ledger says so', async () => {
  await rig.request(['a', 'b']);
  const worker = rig.worker({ provider: peer() });
  await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'));
  await rig.suppress('a');
  const broker = new FakeBroker();
  expect(await drain(relay(broker))).toBe(0);
  expect(await rig.operation('a')).toMatchObject({ state: 'suppressed' });
  expect(await rig.attempts('a')).toMatchObject([{ outcome: 'suppressed' }]);
  expect(await rig.operation('b')).toMatchObject({ state: 'accepted' });
});

it('is not told of a replaced delivery before its call is recorded', async () => {
  await rig.request(['a']);
  const worker = rig.worker({ provider: peer() });
  using gate = gateAt('dispatch.after-call');
  await worker.pipeline.runOnce();
  await gate.reached;
  await rig.suppress('a');
  const broker = new FakeBroker();
  const pass = relay(broker);
  await expect(pass.runOnce(new AbortController().signal)).rejects.toMatchObject({ code: 'still-calling' });
  expect(await rig.query('SELECT FROM outbox')).toHaveLength(1);
  gate.open();
  await worker.workUntil('it to be recorded', async () => await rig.allIn('accepted'));
  await drain(pass);
  expect(await rig.operation('a')).toMatchObject({ state: 'suppressed' });
});

it('leaves other messages that were replaced alone', async () => {
  await append(rig.dataSource, [entryOf('x', 'not/an/operation')], rig.outbox.buckets);
  await suppressUndelivered(rig.dataSource, ['not/an/operation', '']);
  expect(await rig.query('SELECT FROM outbox')).toHaveLength(1);
});
