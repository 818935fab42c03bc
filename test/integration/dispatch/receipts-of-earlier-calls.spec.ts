import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DataOf } from '../../../src/messaging/contracts/registry.ts';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import { redriveOperations } from '../../../src/operations/redrive-operations/redrive-operations.ts';
import type { CallOutcome } from '../../../src/providers/provider.port.ts';
import { ReceiptFactsHandler } from '../../../src/receipts/receipt-facts.handler.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ScriptedProvider, type Worker } from '../../support/dispatch-worker.ts';
import { eventually } from '../../support/eventually.ts';

type Receipt = DataOf<'einmal.receipt.reported.v1'>;

const AMBIGUOUS: CallOutcome = { kind: 'ambiguous', code: 'timeout', diagnostic: 'no answer in time' };
const REFUSED: CallOutcome = { kind: 'rejected', what: 'message', code: 'http-422', diagnostic: 'not taken' };
const THROTTLED: CallOutcome = { kind: 'throttled', retryAfterMs: 60_000, code: 'http-429', diagnostic: 'too many' };
const takenAs = (effectId: string): CallOutcome => ({ kind: 'accepted', effectId, code: 'http-200', diagnostic: 'ok' });

let rig: DispatchRig;
let count = 0;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

async function report(parts: Partial<Receipt>): Promise<void> {
  count += 1;
  const data: Receipt = {
    provider: 'main',
    receiptId: `receipt-${count}`,
    type: 'rejected',
    occurredAt: new Date().toISOString(),
    ...parts,
  };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    const event = { id: `e${count}`, source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
    await new ReceiptFactsHandler(rig.events).reported({ events: [event], tx, outbox });
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

async function asked(...answers: readonly (CallOutcome | Promise<CallOutcome>)[]): Promise<Worker> {
  await rig.request(['a'], { onUnknown: 'resend' });
  return rig.worker({ provider: new ScriptedProvider((_mail, nth) => answers[nth - 1] ?? takenAs(`effect-${nth}`)) });
}

async function redrive(): Promise<void> {
  const wanted = {
    tenantId: 'demo',
    actor: 'operator',
    reason: 'the account was repaired',
    deadline: null,
    perSecond: null,
    providers: ['main'],
    causationId: 'decision',
  };
  const { claim_seq: claimNumber } = await rig.operation('a');
  await rig.inTransaction(
    async (tx) => await redriveOperations(tx, [], rig.events, wanted, [{ operationKey: 'a', claimNumber }]),
  );
}

/** Taken as `effect-1`, refused by a receipt, and started again by a person. */
async function redriven(second: CallOutcome): Promise<Worker> {
  const worker = await asked(takenAs('effect-1'), second);
  await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
  await report({ effectId: 'effect-1', type: 'accepted' });
  await report({ effectId: 'effect-1' });
  expect(await rig.operation('a')).toMatchObject({ state: 'rejected' });
  await redrive();
  expect(await rig.operation('a')).toMatchObject({ state: 'queued' });
  return worker;
}

async function resent(first: CallOutcome | Promise<CallOutcome>, second: CallOutcome): Promise<Worker> {
  const worker = await asked(first, second);
  await worker.workUntil('the first to be unknown', async () => await rig.allIn('unknown'));
  await worker.resolveOnce();
  expect(await rig.operation('a')).toMatchObject({ state: 'queued' });
  return worker;
}

const isDoubled = async (): Promise<unknown> => (await rig.query('SELECT doubled FROM operations'))[0];
const calls = async (): Promise<number> => (await rig.attempts('a')).filter((each) => each.outcome !== null).length;

describe('what a receipt took back before it was started again', () => {
  it.each<[string, CallOutcome, string]>([
    ['is accepted', takenAs('effect-2'), 'accepted'],
    ['is lost', AMBIGUOUS, 'unknown'],
    ['is to be tried later', THROTTLED, 'queued'],
  ])('says nothing of the next call, which %s', async (_what, second, state) => {
    const worker = await redriven(second);
    await worker.workUntil('the second call', async () => (await calls()) === 2);
    expect(await rig.operation('a')).toMatchObject({ state });
    expect(await isDoubled()).toEqual({ doubled: false });
  });

  it('does not end what waits to be called, when more is said of it', async () => {
    await redriven(takenAs('effect-2'));
    await report({ effectId: 'effect-1', type: 'deferred' });
    expect(await rig.operation('a')).toMatchObject({ state: 'queued' });
  });
});

describe('after a lost call was sent again', () => {
  it('a receipt that the first was refused does not refuse the second', async () => {
    const worker = await resent(AMBIGUOUS, takenAs('effect-2'));
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    await report({ reference: (await rig.operation('a')).operation_id, effectId: 'effect-1' });
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted', effect_id: 'effect-2' });
    expect(await isDoubled()).toEqual({ doubled: false });
  });

  it('a receipt that the second was refused refuses it', async () => {
    const worker = await resent(AMBIGUOUS, takenAs('effect-2'));
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    await report({ effectId: 'effect-2' });
    expect(await rig.operation('a')).toMatchObject({ state: 'rejected' });
  });

  it('a receipt of the first counts for more than that the second was refused', async () => {
    const worker = await resent(AMBIGUOUS, REFUSED);
    await worker.workUntil('the second to be refused', async () => await rig.allIn('rejected'));
    await report({ reference: (await rig.operation('a')).operation_id, effectId: 'effect-1', type: 'delivered' });
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered', effect_id: 'effect-1' });
    expect((await rig.eventsOf('a')).slice(-2)).toEqual(['operation.resolved', 'operation.delivered']);
  });

  it('an answer to the first, later still, counts for more than that the second was refused', async () => {
    const first = Promise.withResolvers<CallOutcome>();
    const worker = await asked(first.promise, REFUSED);
    await worker.workUntil('the first call', async () => await rig.allIn('calling'));
    await rig.endLeases();
    await rig.rescue();
    await worker.resolveOnce();
    await worker.workUntil('the second to be refused', async () => await rig.allIn('rejected'));
    first.resolve(takenAs('effect-1'));
    await eventually('the answer to count', 10_000, async () => await rig.allIn('accepted'));
    expect(await rig.operation('a')).toMatchObject({ effect_id: 'effect-1' });
    expect((await rig.eventsOf('a')).at(-1)).toBe('operation.resolved');
  });
});
