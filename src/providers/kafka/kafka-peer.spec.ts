import { expect, it } from 'vitest';
import { sampleMail } from '../../../test/support/sample-mail.ts';
import { kafkaSchema } from '../../config/provider-kinds/kafka.schema.ts';
import { inconsistencies } from '../abilities.ts';
import type { CallOutcome, Outgoing, Provider } from '../provider.port.ts';
import { createKafkaPeer, type PublishDelivery } from './kafka-peer.ts';

const TAKEN: CallOutcome = { kind: 'accepted', effectId: null, code: 'published', diagnostic: '' };
const never: PublishDelivery = async () => await new Promise<CallOutcome>(() => undefined);

function create(publish: PublishDelivery, more: Record<string, unknown> = {}): Provider {
  return createKafkaPeer({ providerName: 'peer', ...kafkaSchema.parse({ kind: 'kafka', ...more }) }, publish);
}

function callOf(provider: Provider, outgoing: Outgoing = sampleMail()) {
  const prepared = provider.prepare(outgoing, provider.shape);
  if (!prepared.ok) throw new Error(prepared.rule);
  return prepared.call;
}

it('publishes the mail and tells what came of it', async () => {
  const published: unknown[] = [];
  const provider = create(async (delivery, timeoutMs) => {
    published.push([delivery.reference, timeoutMs]);
    return await Promise.resolve(TAKEN);
  });
  const mail = sampleMail();
  expect(await callOf(provider, mail).send(500)).toBe(TAKEN);
  expect(published).toEqual([[mail.reference, 500]]);
});

it('has the same hash for the same delivery, and another for another', () => {
  const provider = create(never);
  const { hash } = callOf(provider);
  expect(hash).toHaveLength(32);
  expect(callOf(provider).hash).toEqual(hash);
  expect(callOf(provider, sampleMail({ headers: { 'X-A': '1', 'X-B': '2' } })).hash).toEqual(hash);
  expect(callOf(provider, sampleMail({ text: 'Bye' })).hash).not.toEqual(hash);
});

it('leaves open what is not published in time, or fails', async () => {
  expect(await callOf(create(never)).send(1)).toMatchObject({ kind: 'ambiguous', code: 'timeout' });
  const impatient = create(never, { timeoutSeconds: 1 });
  expect(await callOf(impatient).send(3_600_000)).toMatchObject({ kind: 'ambiguous', code: 'timeout' });
  const failing = create(async () => await Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' })));
  expect(await callOf(failing).send(500)).toMatchObject({ kind: 'ambiguous', code: 'ECONNRESET' });
  expect(await callOf(create(never)).send(0)).toMatchObject({ kind: 'not-sent', code: 'timeout' });
});

it('waits at close for what is under way, and takes nothing later', async () => {
  const { promise, resolve } = Promise.withResolvers<CallOutcome>();
  const provider = create(async () => await promise);
  const call = callOf(provider);
  const sent = call.send(20_000);
  const closed = Promise.all([provider.close(), provider.close()]);
  resolve(TAKEN);
  await closed;
  expect(await sent).toBe(TAKEN);
  expect(await call.send(20_000)).toMatchObject({ kind: 'not-sent', code: 'closed' });
});

it('has the abilities of its configuration', () => {
  const { abilities } = create(never, { windowDays: 3, receiptWaitSeconds: 60 });
  expect(inconsistencies(abilities)).toEqual([]);
  expect(abilities).toMatchObject({
    key: { kind: 'replay', windowMs: 3 * 86_400_000 },
    lookup: { kind: 'none' },
    receipt: { kind: 'proves-acceptance', waitMs: 60_000 },
  });
});

it('takes mails of its size only', () => {
  const provider = create(never);
  const call = { kind: 'http', reference: 'r', method: 'POST', path: '/', headers: {}, body: {} } as const;
  expect(provider.prepare(call, null)).toMatchObject({ ok: false });
  expect(provider.prepare(sampleMail({ text: 'x'.repeat(1_000_001) }), null)).toMatchObject({ ok: false });
});
