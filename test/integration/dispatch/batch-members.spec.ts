import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import { resolveUnknowns } from '../../../src/operations/unknowns/resolve-unknowns.ts';
import { ReceiptFactsHandler } from '../../../src/receipts/receipt-facts.handler.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { calledOf, loseBatch, NEVER_ARRIVED, resend, stepsOf, type Called } from '../../support/batch-ground.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import type { Worker } from '../../support/dispatch-worker.ts';
import { spawnApiSink, type ApiSink } from '../../support/sinks/api-sink.ts';

let rig: DispatchRig;
let sink: ApiSink;

beforeAll(async () => {
  [rig, sink] = await Promise.all([
    createDispatchRig(inject('databaseUrl'), inject('templateDatabase')),
    spawnApiSink(),
  ]);
});
afterAll(async () => await Promise.all([rig.tearDown(), sink.stop()]));
beforeEach(async () => await Promise.all([rig.reset(), sink.reset()]));

const NAMES = ['a', 'b', 'c', 'd'];

const called = async (name: string): Promise<Called> => await calledOf(rig, sink, name);
const all = async (names = NAMES): Promise<Called[]> => await Promise.all(names.map(called));
const states = async (): Promise<string[]> => (await all()).map(({ state, effects }) => `${state} ${effects}`);
const requests = async (): Promise<number> => (await sink.stats()).requests;

async function work(worker: Worker, ...ends: readonly string[]): Promise<void> {
  await worker.workUntil(`all to be ${ends.join(' or ')}`, async () => await rig.allIn(...ends));
}

/** As the inbox hands it over, in one transaction. */
async function report(name: string): Promise<void> {
  const { operation_id: reference } = await rig.operation(name);
  const occurredAt = new Date().toISOString();
  const data = { provider: 'main', receiptId: 'r1', type: 'delivered', occurredAt, reference } as const;
  const event = { id: 'e1', source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    await new ReceiptFactsHandler(rig.events).reported({ events: [event], tx, outbox });
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

describe('what has become of another member meanwhile', () => {
  it('reported by the provider: the batch arrived, so that calling it again is harmless whoever is suppressed since', async () => {
    const worker = await loseBatch(rig, sink, NAMES);
    await report('a');
    await rig.suppress('b');
    await rig.query(`UPDATE operations SET deadline = now() WHERE operation_key = 'c'`);
    await worker.resolveOnce();
    expect(await states()).toEqual(['delivered 1', 'accepted 1', 'accepted 1', 'accepted 1']);
    expect(await stepsOf(rig, 'a')).toEqual(['receipt delivered']);
    expect(await requests()).toBe(2);
  });

  it('reported of an earlier call of that one: nothing is known of the batch, and it is not called again', async () => {
    const worker = await loseBatch(rig, sink, NAMES, NEVER_ARRIVED);
    await rig.query(
      `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, outcome, ended_at)
       SELECT tenant_id, operation_id, 0, 'main', gen_random_uuid(), 'ambiguous', now() FROM operations
       WHERE operation_key = 'a'`,
    );
    await report('a');
    await worker.resolveOnce();
    expect(await states()).toEqual(['delivered 0', 'unknown 0', 'unknown 0', 'unknown 0']);
    expect(await stepsOf(rig, 'b')).toEqual(['replay definition-changed']);
    expect(await requests()).toBe(1);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['suppressed', async () => await rig.suppress('a'), 'replay suppressed'],
    [
      'late',
      async () => await rig.query(`UPDATE operations SET deadline = now() WHERE operation_key = 'a'`),
      'replay expired',
    ],
    [
      'no longer approved',
      async () =>
        await rig.query(
          `UPDATE operations SET approval_object = 'offer', approval_revision = 1 WHERE operation_key = 'a'`,
        ),
      'replay not-approved',
    ],
    [
      'scrubbed',
      async () =>
        await rig.query(
          `DELETE FROM operation_requests USING operations o WHERE operation_requests.operation_id = o.operation_id
             AND o.operation_key = 'a'`,
        ),
      'replay definition-changed',
    ],
    [
      'composed to other bytes',
      async () =>
        await rig.query(
          `UPDATE operation_requests r SET request = '{"to":"a@example.com","subject":"other","text":"x"}'
           FROM operations o WHERE r.operation_id = o.operation_id AND o.operation_key = 'a'`,
        ),
      'replay definition-changed',
    ],
  ])('%s: a batch that may not have arrived is not called again', async (_what, change, step) => {
    const worker = await loseBatch(rig, sink, NAMES, NEVER_ARRIVED);
    await change();
    await worker.resolveOnce();
    expect(await requests()).toBe(1);
    expect(await stepsOf(rig, 'a')).toEqual([step]);
    expect(await stepsOf(rig, 'b')).toEqual(['replay definition-changed']);
    expect(await rig.states()).toEqual({ unknown: 4 });
    await rig.query('UPDATE operations SET resolve_at = now()');
    await worker.resolveOnce();
    expect(await requests()).toBe(1);
  });

  it('sent otherwise, since a person said that it was not sent: the batch would send it a second time', async () => {
    const worker = await loseBatch(rig, sink, NAMES, NEVER_ARRIVED);
    await rig.query(`UPDATE operations SET resolve_at = 'infinity'`);
    const decision = { tenantId: 'demo', actor: 'p', as: 'not-sent', reason: 'looked', until: null } as const;
    const operations = [{ operationKey: 'a', claimNumber: (await rig.operation('a')).claim_seq }];
    await resolveUnknowns(rig.dataSource, rig.events, rig.outbox, decision, operations);
    await work(worker, 'accepted', 'unknown');
    expect(await called('a')).toMatchObject({ state: 'accepted', effects: 1, batches: [expect.any(String), null] });
    await rig.query(`UPDATE operations SET resolve_at = now() WHERE state = 'unknown'`);
    await worker.resolveOnce();
    expect(await states()).toEqual(['accepted 1', 'unknown 0', 'unknown 0', 'unknown 0']);
    expect(await stepsOf(rig, 'b')).toEqual(['replay definition-changed']);
    expect((await sink.stats()).doubled).toBe(0);
  });

  it('told that the whole call had no effect: it is sent otherwise, and the batch is not called again', async () => {
    await rig.request(NAMES);
    await sink.script('resend', [{ phase: 'body', action: { do: 'reply', status: 429 }, times: 1 }]);
    const worker = rig.worker({ provider: resend(sink) });
    using gate = gateAt('dispatch.after-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    // As when the process dies with the result of one of them stored.
    await rig.query(`UPDATE operations SET lease_until = now() - interval '1 second' WHERE operation_key <> 'a'`);
    expect(await rig.rescue()).toMatchObject({ unknown: 3 });
    await rig.query(
      `UPDATE attempts SET outcome = 'throttled', ended_at = now() FROM operations o
       WHERE attempts.operation_id = o.operation_id AND o.operation_key = 'a'`,
    );
    await rig.query(
      `UPDATE operations SET state = 'queued', claimed_by = NULL, lease_until = NULL, attempts = 0
       WHERE operation_key = 'a'`,
    );
    const other = rig.worker({ provider: resend(sink) });
    await work(other, 'accepted', 'unknown');
    await other.resolveOnce();
    expect(await states()).toEqual(['accepted 1', 'unknown 0', 'unknown 0', 'unknown 0']);
    expect(await stepsOf(rig, 'b')).toEqual(['replay definition-changed']);
    expect((await sink.stats()).doubled).toBe(0);
  });

  it('claimed by another worker: both call the same batch, and the key keeps it one', async () => {
    await loseBatch(rig, sink, NAMES);
    await rig.query(`UPDATE operations SET resolve_at = 'infinity' WHERE operation_key IN ('c', 'd')`);
    const [one, two] = [rig.worker({ provider: resend(sink) }), rig.worker({ provider: resend(sink) })];
    using gate = gateAt('resolve.before-call');
    await one.resolver.runOnce();
    await gate.reached;
    await rig.query(`UPDATE operations SET resolve_at = now() WHERE operation_key IN ('c', 'd')`);
    await two.resolveOnce();
    expect(await rig.states()).toEqual({ unknown: 2, accepted: 2 });
    gate.open();
    await one.resolver.settled();
    expect(await states()).toEqual(NAMES.map(() => 'accepted 1'));
    expect(await requests()).toBe(3);
    for (const { keys, bodies } of await all()) expect([keys.length, bodies]).toEqual([1, 1]);
  });

  it('resolved while the batch is called again: its worker writes nothing, the others theirs', async () => {
    const worker = await loseBatch(rig, sink, NAMES);
    using gate = gateAt('resolve.before-call');
    await worker.resolver.runOnce();
    await gate.reached;
    await report('a');
    gate.open();
    await worker.resolver.settled();
    expect(worker.claimLost).toEqual(['resolve']);
    expect(await states()).toEqual(['delivered 1', 'accepted 1', 'accepted 1', 'accepted 1']);
  });
});
