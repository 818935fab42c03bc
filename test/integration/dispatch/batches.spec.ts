import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { gateAt, onReach } from '../../../src/runtime/signal.ts';
import { calledOf, postmark, resend, type Called } from '../../support/batch-ground.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import type { Worker } from '../../support/dispatch-worker.ts';
import { eventually } from '../../support/eventually.ts';
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
const requests = async (): Promise<number> => (await sink.stats()).requests;

async function work(worker: Worker, ...states: readonly string[]): Promise<void> {
  await worker.workUntil(`all to be ${states.join(' or ')}`, async () => await rig.allIn(...states));
}

describe('operations that are ready at the same time', () => {
  it('share one call, whose key is the batch that stands in the ledger', async () => {
    await rig.request(NAMES);
    await work(rig.worker({ provider: resend(sink) }), 'accepted');
    expect(await requests()).toBe(1);
    const seen = await all();
    const [batchId] = seen[0]?.batches ?? [];
    expect(seen).toEqual(
      NAMES.map(() => ({
        state: 'accepted',
        effects: 1,
        keys: [batchId],
        bodies: 1,
        requests: 1,
        batches: [batchId],
      })),
    );
    const effects = new Map((await sink.arrivals()).map(({ reference, id }) => [reference, id]));
    for (const name of NAMES) {
      const { operation_id, effect_id } = await rig.operation(name);
      expect(effects.get(operation_id)).toBe(effect_id);
      expect(await rig.eventsOf(name)).toEqual(['operation.accepted']);
    }
  });

  it('are cut into calls of batchSize', async () => {
    await rig.request(Array.from({ length: 25 }, (_, index) => `n${index}`));
    await work(rig.worker({ provider: resend(sink), claimBatch: 25 }), 'accepted');
    expect(await requests()).toBe(3);
    expect(await sink.stats()).toMatchObject({ effects: 25, distinct: 25, doubled: 0, malformed: [] });
  });

  it('alone has a call of its own, under its own key', async () => {
    await rig.request(['a']);
    await work(rig.worker({ provider: resend(sink) }), 'accepted');
    const { operation_id } = await rig.operation('a');
    expect(await called('a')).toMatchObject({ keys: [operation_id], batches: [null], effects: 1 });
  });

  it('have calls of their own where batchSize is 1', async () => {
    await rig.request(NAMES);
    await work(rig.worker({ provider: resend(sink, { batchSize: 1 }) }), 'accepted');
    expect(await requests()).toBe(4);
    for (const { batches } of await all()) expect(batches).toEqual([null]);
  });

  it('of another tenant, of campaigns and what has failed before are in other calls', async () => {
    const worker = rig.worker({ provider: resend(sink, { connections: 1 }), tenants: ['demo', 'other'] });
    // While the only call is taken and two wait for it, all others gather.
    const leaveCall = await worker.lane.enterCall(true);
    await rig.request(['x', 'y']);
    await rig.campaign('before', ['v', 'w']);
    await work(worker, 'claimed');
    await rig.request(['a', 'b']);
    await rig.campaign('news', ['c', 'd']);
    await rig.request(['e', 'f'], { tenantId: 'other' });
    await rig.request(['g', 'h']);
    await rig.query(`UPDATE operations SET attempts = 1 WHERE operation_key IN ('g', 'h')`);
    await work(worker, 'claimed');
    leaveCall?.();
    await work(worker, 'accepted');
    const batch = async (name: string, tenant = 'demo'): Promise<string | null | undefined> =>
      (
        await rig.query<{ batch_id: string | null }>(
          `SELECT batch_id FROM attempts JOIN operations USING (tenant_id, operation_id)
           WHERE operation_key = $1 AND tenant_id = $2`,
          [name, tenant],
        )
      )[0]?.batch_id;
    expect([await batch('g'), await batch('h')]).toEqual([null, null]);
    expect(await batch('b')).toBe(await batch('a'));
    expect(await batch('d')).toBe(await batch('c'));
    expect(await batch('f', 'other')).toBe(await batch('e', 'other'));
    expect(new Set([await batch('a'), await batch('c'), await batch('e', 'other')]).size).toBe(3);
    expect(await sink.stats()).toMatchObject({ requests: 7, distinct: 12, doubled: 0 });
  });

  it('but for one that is suppressed at the intent: it is in no call', async () => {
    await rig.request(NAMES);
    const worker = rig.worker({ provider: resend(sink) });
    using gate = gateAt('dispatch.after-claim');
    const pass = worker.pipeline.runOnce();
    await gate.reached;
    await rig.suppress('b');
    gate.open();
    await pass;
    await work(worker, 'accepted', 'suppressed');
    expect((await all()).map(({ state, effects }) => `${state} ${effects}`)).toEqual([
      'accepted 1',
      'suppressed 0',
      'accepted 1',
      'accepted 1',
    ]);
    expect(await called('b')).toMatchObject({ batches: [], requests: 0 });
  });

  it('but for one whose claim is lost: the others go without it', async () => {
    await rig.request(NAMES);
    const worker = rig.worker({ provider: resend(sink) });
    using gate = gateAt('dispatch.after-claim');
    const pass = worker.pipeline.runOnce();
    await gate.reached;
    await rig.query(
      `UPDATE operations SET state = 'cancelled', state_reason = 'x', claim_seq = claim_seq + 1, claimed_by = NULL,
         lease_until = NULL WHERE operation_key = 'c'`,
    );
    gate.open();
    await pass;
    await work(worker, 'accepted', 'cancelled');
    expect(worker.claimLost).toEqual(['commit-intents']);
    expect(await called('c')).toMatchObject({ state: 'cancelled', effects: 0, batches: [] });
    expect(await sink.stats()).toMatchObject({ requests: 1, distinct: 3, doubled: 0 });
  });

  it('are not called any more while four times what all calls carry is not stored', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
    await rig.request(names);
    const worker = rig.worker({ provider: resend(sink, { connections: 1 }), claimBatch: 60 });
    using gate = gateAt('dispatch.after-record');
    await worker.pipeline.runOnce();
    await eventually('four batches', 10_000, async () => (await sink.stats()).effects === 40);
    await gate.reached;
    for (let turn = 0; turn < 10; turn++) await worker.pipeline.runOnce();
    expect((await sink.stats()).effects).toBe(40);
    expect(await rig.states()).toEqual({ calling: 40, claimed: 20 });
    gate.open();
    await work(worker, 'accepted');
    expect(await sink.stats()).toMatchObject({ requests: 6, distinct: 60, doubled: 0 });
  });

  it('are given back together by a worker that stops before the call', async () => {
    await rig.request(NAMES);
    const worker = rig.worker({ provider: resend(sink, { connections: 1 }) });
    const leaveCall = await worker.lane.enterCall(true);
    await worker.pipeline.runOnce();
    await eventually('all to be claimed', 10_000, async () => await rig.allIn('claimed'));
    await worker.pipeline.stop();
    leaveCall?.();
    expect(await rig.states()).toEqual({ queued: 4 });
    expect(worker.notCalled).toEqual(['stopping', 'stopping', 'stopping', 'stopping']);
    expect(await requests()).toBe(0);
  });
});

describe('an answer to a batch', () => {
  it('refuses one message and takes the others', async () => {
    await rig.request(NAMES);
    const { operation_id: reference } = await rig.operation('b');
    await sink.script('resend', [{ phase: 'message', action: { do: 'refuse', as: 'rejected-message' }, reference }]);
    await work(rig.worker({ provider: resend(sink) }), 'accepted', 'rejected');
    expect((await all()).map(({ state, effects }) => `${state} ${effects}`)).toEqual([
      'accepted 1',
      'rejected 0',
      'accepted 1',
      'accepted 1',
    ]);
    expect(await requests()).toBe(1);
  });

  it('that refuses the request as a whole is none of the messages: each goes alone then', async () => {
    await rig.request(NAMES);
    await sink.script('resend', [{ phase: 'body', action: { do: 'refuse', as: 'bad-request' }, times: 1 }]);
    const worker = rig.worker({ provider: resend(sink) });
    await work(worker, 'accepted');
    expect(worker.recorded.slice(0, 4)).toEqual(['not-sent', 'not-sent', 'not-sent', 'not-sent']);
    expect(await sink.stats()).toMatchObject({ requests: 5, distinct: 4, doubled: 0 });
    for (const { batches } of await all()) expect(batches).toEqual([expect.any(String), null]);
  });

  it('that asks to wait holds for all, and costs none an attempt', async () => {
    await rig.request(NAMES);
    await sink.script('resend', [{ phase: 'body', action: { do: 'reply', status: 429 }, times: 1 }]);
    const worker = rig.worker({ provider: resend(sink) });
    await work(worker, 'accepted');
    expect(worker.recorded.filter((kind) => kind === 'throttled')).toHaveLength(4);
    expect(await rig.operation('a')).toMatchObject({ attempts: 1 });
    expect(await sink.stats()).toMatchObject({ distinct: 4, doubled: 0 });
  });

  it('of a provider without keys says of each message what it would have said to it alone', async () => {
    await rig.request(NAMES);
    const ids = await Promise.all(NAMES.map(async (name) => (await rig.operation(name)).operation_id));
    await sink.script('postmark', [
      { phase: 'message', action: { do: 'refuse', as: 'suppressed' }, reference: ids[0] ?? '' },
      { phase: 'message', action: { do: 'refuse', as: 'rejected-recipient' }, reference: ids[3] ?? '' },
    ]);
    await work(rig.worker({ provider: postmark(sink) }), 'accepted', 'rejected', 'suppressed');
    expect((await all()).map(({ state }) => state)).toEqual(['suppressed', 'accepted', 'accepted', 'rejected']);
    expect(await sink.stats()).toMatchObject({ requests: 1, distinct: 2, doubled: 0, malformed: [] });
  });
});

describe('intents of a batch that fail', () => {
  it('after their commit: nobody was called, and all of them are tried again', async () => {
    await rig.request(NAMES);
    const worker = rig.worker({ provider: resend(sink) });
    using gate = gateAt('dispatch.after-intents');
    await worker.pipeline.runOnce();
    await gate.reached;
    expect(await rig.states()).toEqual({ calling: 4 });
    gate.open(new Error('the answer of the database got lost'));
    await work(worker, 'accepted');
    expect(await sink.stats()).toMatchObject({ distinct: 4, doubled: 0 });
    expect((await rig.attempts('a')).map(({ outcome }) => outcome)).toEqual(['not-sent', 'accepted']);
  });
});

describe('a worker that outlives its lease', () => {
  it('records what it was told, and the batch is not called a second time', async () => {
    await rig.request(NAMES);
    const worker = rig.worker({ provider: resend(sink) });
    using gate = gateAt('dispatch.after-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    await rig.endLeases();
    expect(await rig.rescue()).toMatchObject({ unknown: 4 });
    gate.open();
    await eventually('the late results', 10_000, async () => await rig.allIn('accepted'));
    expect(worker.claimLost).toEqual(['record', 'record', 'record', 'record']);
    await rig.worker({ provider: resend(sink) }).resolveOnce();
    expect(await sink.stats()).toMatchObject({ requests: 1, distinct: 4, doubled: 0 });
  });

  it('does not call when it wakes after its lease', async () => {
    await rig.request(NAMES);
    const worker = rig.worker({ provider: resend(sink), leaseSeconds: 4, timeoutMs: 1_200 });
    let slept = false;
    const remove = onReach('dispatch.after-intents', async () => {
      if (slept) return;
      slept = true;
      await eventually('the lease to leave no time for a call', 10_000, async () => {
        const [row] = await rig.query<{ left: number }>(
          'SELECT extract(epoch FROM min(lease_until) - now())::float8 AS left FROM operations',
        );
        return (row?.left ?? 0) < 1;
      });
    });
    await work(worker, 'accepted');
    remove();
    expect(worker.recorded.slice(0, 4)).toEqual(['not-sent', 'not-sent', 'not-sent', 'not-sent']);
    expect(await sink.stats()).toMatchObject({ distinct: 4, doubled: 0 });
  });
});
