import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { ReceiptFactsHandler } from '../../../src/receipts/receipt-facts.handler.ts';
import { linkReceipts } from '../../../src/receipts/link-receipts.ts';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import type { DataOf } from '../../../src/messaging/contracts/registry.ts';
import type { CallOutcome } from '../../../src/providers/provider.port.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ACCEPTED, ScriptedProvider, type Worker } from '../../support/dispatch-worker.ts';

type Receipt = DataOf<'einmal.receipt.reported.v1'>;

const AMBIGUOUS: CallOutcome = { kind: 'ambiguous', code: 'timeout', diagnostic: 'no answer in time' };

let rig: DispatchRig;
let count = 0;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

/** As the inbox hands it over, in one transaction. */
async function report(parts: Partial<Receipt>, tenantId = 'demo'): Promise<void> {
  count += 1;
  const data: Receipt = {
    provider: 'main',
    receiptId: `receipt-${count}`,
    type: 'delivered',
    occurredAt: new Date().toISOString(),
    ...parts,
  };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    const event = { id: `e${count}`, source: '/peer', type: 'x', tenantId, time: new Date(), data };
    await new ReceiptFactsHandler(rig.events).reported({ events: [event], tx, outbox });
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

async function referenceOf(name: string): Promise<string> {
  return (await rig.operation(name)).operation_id;
}

async function worker(...answers: readonly CallOutcome[]): Promise<{ worker: Worker; provider: ScriptedProvider }> {
  const provider = new ScriptedProvider((_mail, nth) => answers[nth - 1] ?? { ...ACCEPTED, effectId: `effect-${nth}` });
  await rig.request(['a'], { onUnknown: 'resend' });
  return { provider, worker: rig.worker({ provider }) };
}

const flags = async (): Promise<unknown> => (await rig.query('SELECT resolved_by, doubled FROM operations'))[0];

describe('a receipt', () => {
  it('that comes after the call is recorded makes it delivered', async () => {
    const { worker: dispatcher } = await worker();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    await report({ reference: await referenceOf('a') });
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered', claim_seq: '1' });
    expect(await flags()).toEqual({ resolved_by: null, doubled: false });
    expect(await rig.eventsOf('a')).toEqual(['operation.accepted', 'operation.delivered']);
  });

  it('that is faster than the record takes effect with it', async () => {
    const { worker: dispatcher } = await worker();
    using gate = gateAt('dispatch.after-call');
    await dispatcher.pipeline.runOnce();
    await gate.reached;
    await report({ reference: await referenceOf('a') });
    expect(await rig.operation('a')).toMatchObject({ state: 'calling' });
    gate.open();
    await dispatcher.workUntil('it to be delivered', async () => await rig.allIn('delivered'));
    expect(await rig.eventsOf('a')).toEqual(['operation.accepted', 'operation.delivered']);
  });

  it('that is stored while the record waits for its commit takes effect with one of both', async () => {
    const { worker: dispatcher } = await worker();
    using gate = gateAt('record.before-commit');
    await dispatcher.pipeline.runOnce();
    await gate.reached;
    const reported = report({ reference: await referenceOf('a') });
    gate.open();
    await reported;
    await dispatcher.workUntil('it to be delivered', async () => await rig.allIn('delivered'));
    expect(await rig.eventsOf('a')).toEqual(['operation.accepted', 'operation.delivered']);
  });

  it('that comes before the operation exists takes effect when that is called', async () => {
    const { worker: dispatcher } = await worker();
    const reference = await referenceOf('a');
    await rig.query('DELETE FROM operations');
    await rig.query('DELETE FROM operation_requests');
    await report({ reference, type: 'bounced' });
    await rig.request(['a']);
    await dispatcher.workUntil('it to be bounced', async () => await rig.allIn('bounced'));
    expect(await rig.eventsOf('a')).toEqual(['operation.accepted', 'operation.bounced']);
  });

  it('resolves what is unknown, and nothing is tried any more', async () => {
    const { worker: dispatcher, provider } = await worker(AMBIGUOUS);
    await dispatcher.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
    await report({ reference: await referenceOf('a') });
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered' });
    expect(await flags()).toEqual({ resolved_by: 'receipt', doubled: false });
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved', 'operation.delivered']);
    await dispatcher.resolveOnce();
    expect(provider.calls).toHaveLength(1);
  });

  it('keeps what was decided to be sent again from being sent again', async () => {
    const { worker: dispatcher, provider } = await worker(AMBIGUOUS);
    await dispatcher.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
    await dispatcher.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'queued' });
    await report({ reference: await referenceOf('a') });
    await dispatcher.pipeline.runOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered' });
    expect(provider.calls).toHaveLength(1);
  });

  it('takes the claim from who is about to call', async () => {
    const { worker: dispatcher, provider } = await worker(AMBIGUOUS);
    await dispatcher.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
    await dispatcher.resolveOnce();
    using gate = gateAt('dispatch.after-claim');
    const pass = dispatcher.pipeline.runOnce();
    await gate.reached;
    await report({ reference: await referenceOf('a') });
    gate.open();
    await pass;
    await dispatcher.pipeline.stop();
    expect(dispatcher.claimLost).toEqual(['commit-intents']);
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered' });
    expect(provider.calls).toHaveLength(1);
  });

  it('of the first call, after the second was accepted, flags it as doubled and says so', async () => {
    const { worker: dispatcher } = await worker(AMBIGUOUS);
    await dispatcher.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
    await dispatcher.resolveOnce();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    const reference = await referenceOf('a');
    await report({ reference, effectId: 'effect-2' });
    expect(await flags()).toEqual({ resolved_by: 'policy', doubled: false });
    await report({ reference, effectId: 'effect-1' });
    expect(await flags()).toEqual({ resolved_by: 'policy', doubled: true });
    await report({ reference, effectId: 'effect-1', type: 'accepted' });
    expect((await rig.eventsOf('a')).filter((type) => type === 'operation.resolved')).toHaveLength(2);
    expect((await rig.eventsOf('a')).at(-1)).toBe('operation.resolved');
  });

  it('counts once, however often it is reported', async () => {
    const { worker: dispatcher } = await worker();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    const receipt = { reference: await referenceOf('a'), receiptId: 'one' };
    await report(receipt);
    await report(receipt);
    expect(await rig.query('SELECT FROM receipts')).toHaveLength(1);
    expect(await rig.eventsOf('a')).toEqual(['operation.accepted', 'operation.delivered']);
  });

  it('of another provider, or another tenant, means nothing', async () => {
    const { worker: dispatcher } = await worker();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    const reference = await referenceOf('a');
    await report({ reference, provider: 'elsewhere' });
    await report({ reference }, 'other');
    await report({ effectId: 'effect-1' }, 'other');
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted' });
  });

  it('finds its operation by the effect id alone', async () => {
    const { worker: dispatcher } = await worker();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    await report({ effectId: 'effect-1' });
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered' });
  });

  it('that knows the effect id before we do is given to its operation later', async () => {
    const { worker: dispatcher } = await worker();
    await report({ effectId: 'effect-1', type: 'bounced' });
    await report({ effectId: 'never seen' });
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await linkReceipts(rig.dataSource, rig.events, 10, rig.outbox)).toBe(1);
    expect(await rig.operation('a')).toMatchObject({ state: 'bounced' });
    expect(await linkReceipts(rig.dataSource, rig.events, 10, rig.outbox)).toBe(0);
  });
});
