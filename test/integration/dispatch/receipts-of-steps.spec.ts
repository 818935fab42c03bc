import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { DataOf } from '../../../src/messaging/contracts/registry.ts';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import { operationId, stepReference } from '../../../src/operations/operation-id.ts';
import { planOperation } from '../../../src/operations/request-operations/plan-operation.ts';
import { requestOperations } from '../../../src/operations/request-operations/request-operations.ts';
import type { CallOutcome } from '../../../src/providers/provider.port.ts';
import { linkReceipts } from '../../../src/receipts/link-receipts.ts';
import { ReceiptFactsHandler } from '../../../src/receipts/receipt-facts.handler.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ScriptedProvider, type Worker } from '../../support/dispatch-worker.ts';

type Receipt = DataOf<'einmal.receipt.reported.v1'>;

const AMBIGUOUS: CallOutcome = { kind: 'ambiguous', code: 'timeout', diagnostic: 'no answer in time' };
const MAIL = { to: 'ada@example.com', subject: 'Notice', text: 'It is out.' };

let rig: DispatchRig;
let count = 0;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

/** Mails a first and a second notice; the n-th call has the effect `effect-N`. */
async function twoMails(answer: (nth: number) => CallOutcome = accepted): Promise<Worker> {
  const tenant = rig.tenants.get('demo');
  if (!tenant) throw new Error('no tenant');
  const steps = ['first', 'second'].map((name) => ({ name, version: 1, kind: 'email' as const, request: MAIL }));
  const data = { operationKey: 'a', kind: 'steps' as const, request: { steps } };
  const event = { id: 'e-a', source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
  await rig.inTransaction(async (tx) => {
    const planned = planOperation(event, tenant, { maxAttempts: 3 });
    await requestOperations(tx, [], rig.events, [planned]);
  });
  return rig.worker({ provider: new ScriptedProvider((_mail, nth) => answer(nth)) });
}

function accepted(nth: number): CallOutcome {
  return { kind: 'accepted', effectId: `effect-${nth}`, code: 'http-200', diagnostic: 'ok' };
}

async function report(parts: Partial<Receipt>): Promise<void> {
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
    const event = { id: `e${count}`, source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
    await new ReceiptFactsHandler(rig.events).reported({ events: [event], tx, outbox });
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

const receipts = async () => await rig.query('SELECT step, operation_id FROM receipts');

describe('a receipt that knows the effect id alone', () => {
  it('of the second step finds it', async () => {
    const worker = await twoMails();
    await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'));
    await report({ effectId: 'effect-2', type: 'bounced' });
    expect(await receipts()).toEqual([{ step: 1, operation_id: operationId('demo', 'a') }]);
    expect(await rig.operation('a')).toMatchObject({ state: 'bounced' });
  });

  it('of the second step, before we know the id, is given to that step later', async () => {
    const worker = await twoMails();
    await report({ effectId: 'effect-2', type: 'bounced' });
    await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'));
    expect(await linkReceipts(rig.dataSource, rig.events, 10, rig.outbox)).toBe(1);
    expect(await receipts()).toEqual([{ step: 1, operation_id: operationId('demo', 'a') }]);
    expect(await rig.operation('a')).toMatchObject({ state: 'bounced' });
  });

  it('of the first step says nothing of the second', async () => {
    const worker = await twoMails((nth) => (nth === 1 ? accepted(nth) : AMBIGUOUS));
    await worker.workUntil('the second to be unknown', async () => await rig.allIn('unknown'));
    await report({ effectId: 'effect-1' });
    expect(await linkReceipts(rig.dataSource, rig.events, 10, rig.outbox)).toBe(0);
    expect(await rig.operation('a')).toMatchObject({ state: 'unknown' });
  });
});

describe('a receipt with a reference', () => {
  it('is of the step whose reference it is, whatever effect id it names', async () => {
    const worker = await twoMails();
    await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'));
    const id = operationId('demo', 'a');
    await report({ reference: stepReference(id, 'first', 1), effectId: 'effect-2', type: 'bounced' });
    expect(await receipts()).toEqual([{ step: 0, operation_id: id }]);
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted' });
    await report({ reference: stepReference(id, 'second', 1), type: 'bounced' });
    expect(await rig.operation('a')).toMatchObject({ state: 'bounced' });
  });
});
