import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { gateAt } from '../../../src/runtime/signal.ts';
import {
  calledOf,
  LOST,
  loseBatch,
  NEVER_ARRIVED,
  postmark,
  resend,
  resendAt,
  stepsOf,
  type Called,
} from '../../support/batch-ground.ts';
import { startDispatchProcess, untilNoticed, type DispatchProcess } from '../../support/dispatch-process.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import type { Worker } from '../../support/dispatch-worker.ts';
import { eventually } from '../../support/eventually.ts';
import { spawnApiSink, type ApiSink } from '../../support/sinks/api-sink.ts';

let rig: DispatchRig;
let sink: ApiSink;
const processes: DispatchProcess[] = [];

beforeAll(async () => {
  [rig, sink] = await Promise.all([
    createDispatchRig(inject('databaseUrl'), inject('templateDatabase')),
    spawnApiSink(),
  ]);
});
afterAll(async () => await Promise.all([rig.tearDown(), sink.stop()]));
beforeEach(async () => await Promise.all([rig.reset(), sink.reset()]));
afterEach(async () => {
  await Promise.all(processes.splice(0).map(async (process) => await process.discard()));
});

const NAMES = ['a', 'b', 'c', 'd'];

const called = async (name: string): Promise<Called> => await calledOf(rig, sink, name);
const all = async (names = NAMES): Promise<Called[]> => await Promise.all(names.map(called));
const states = async (): Promise<string[]> => (await all()).map(({ state, effects }) => `${state} ${effects}`);
const requests = async (): Promise<number> => (await sink.stats()).requests;

async function work(worker: Worker, ...ends: readonly string[]): Promise<void> {
  await worker.workUntil(`all to be ${ends.join(' or ')}`, async () => await rig.allIn(...ends));
}

async function killAt(point: string): Promise<void> {
  await rig.request(NAMES);
  const process = await startDispatchProcess(rig, {
    kafkaBrokers: inject('kafkaBrokers'),
    fault: `${point}:kill`,
    provider: resendAt(sink),
  });
  processes.push(process);
  expect(await process.exited).toBe('SIGKILL');
  await untilNoticed(rig);
  await rig.endLeases();
  expect(await rig.rescue()).toMatchObject({ unknown: 4 });
}

describe('a batch whose answer is lost', () => {
  it('is called again as it was, and each has one effect', async () => {
    const worker = await loseBatch(rig, sink, NAMES);
    await worker.resolveOnce();
    const seen = await all();
    const [key] = seen[0]?.keys ?? [];
    for (const each of seen) {
      expect(each).toMatchObject({
        state: 'accepted',
        effects: 1,
        keys: [key],
        bodies: 1,
        requests: 2,
        batches: [key],
      });
    }
    expect(await requests()).toBe(2);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved']);
    expect(await stepsOf(rig, 'a')).toEqual(['replay accepted']);
    expect(await rig.attempts('a')).toMatchObject([{ outcome: 'ambiguous' }, { outcome: 'accepted' }]);
  });

  it('before it had any effect: calling it again has it', async () => {
    const worker = await loseBatch(rig, sink, NAMES, NEVER_ARRIVED);
    await worker.resolveOnce();
    expect(await rig.states()).toEqual({ accepted: 4 });
    expect(await sink.stats()).toMatchObject({ requests: 2, distinct: 4, doubled: 0 });
  });

  it('is never made of singles: not by the dispatcher, whatever it claims, and not for a lone member', async () => {
    const worker = await loseBatch(rig, sink, NAMES);
    await rig.query(`UPDATE operations SET resolve_at = 'infinity' WHERE operation_key <> 'c'`);
    for (let turn = 0; turn < 3; turn++) await worker.pipeline.runOnce();
    await worker.resolveOnce();
    expect((await all()).map(({ state }) => state)).toEqual(['unknown', 'unknown', 'accepted', 'unknown']);
    // All four were in the second call, too; only what was claimed is resolved by it.
    expect((await all()).map((each) => each.requests)).toEqual([2, 2, 2, 2]);
    expect(await rig.operation('a')).toMatchObject({ claim_seq: '1' });
    await rig.query(`UPDATE operations SET resolve_at = now()`);
    await worker.resolveOnce();
    expect(await rig.states()).toEqual({ accepted: 4 });
    for (const { keys, bodies, effects } of await all()) expect([keys.length, bodies, effects]).toEqual([1, 1, 1]);
  });

  it('is called again by whoever has another batchSize by then', async () => {
    await loseBatch(rig, sink, NAMES);
    await rig.worker({ provider: resend(sink, { batchSize: 1 }) }).resolveOnce();
    expect(await rig.states()).toEqual({ accepted: 4 });
    for (const { keys, bodies, effects } of await all()) expect([keys.length, bodies, effects]).toEqual([1, 1, 1]);
  });

  it('with a refusal in it: the refused one stays unknown, the others are accepted', async () => {
    await rig.request(NAMES);
    const { operation_id: reference } = await rig.operation('b');
    const refuse = { do: 'refuse', as: 'rejected-message' } as const;
    await sink.script('resend', [{ phase: 'message', action: refuse, reference }, LOST]);
    const worker = rig.worker({ provider: resend(sink) });
    await work(worker, 'unknown');
    await worker.resolveOnce();
    expect((await all()).map(({ state, effects }) => `${state} ${effects}`)).toEqual([
      'accepted 1',
      'unknown 0',
      'accepted 1',
      'accepted 1',
    ]);
    expect(await stepsOf(rig, 'b')).toEqual(['replay rejected']);
  });

  it('is waited for while the first call is still under way', async () => {
    await rig.request(NAMES);
    await sink.script('resend', [{ phase: 'body', action: { do: 'stall' }, times: 1 }]);
    const worker = rig.worker({ provider: resend(sink), timeoutMs: 300 });
    await work(worker, 'unknown');
    await worker.resolveOnce();
    expect(await stepsOf(rig, 'a')).toEqual(['replay concurrent']);
    await sink.release();
    await eventually('the first call to be through', 10_000, async () => (await sink.stats()).effects === 4);
    await rig.query(`UPDATE evidence SET at = at - interval '1 minute'`);
    await rig.query('UPDATE operations SET resolve_at = now()');
    await worker.resolveOnce();
    expect(await rig.states()).toEqual({ accepted: 4 });
    expect(await sink.stats()).toMatchObject({ distinct: 4, doubled: 0 });
  });

  it('is not called again by a worker that stops', async () => {
    const worker = await loseBatch(rig, sink, NAMES);
    using gate = gateAt('resolve.after-claim');
    const pass = worker.resolver.runOnce();
    await gate.reached;
    const stopped = worker.resolver.stop();
    gate.open();
    await Promise.all([pass, stopped]);
    await worker.resolver.settled();
    expect(await rig.states()).toEqual({ unknown: 4 });
    expect((await sink.stats()).requests).toBe(1);
    await rig.worker({ provider: resend(sink) }).resolveOnce();
    expect(await rig.states()).toEqual({ accepted: 4 });
  });

  it('is not called again without the time for it', async () => {
    await loseBatch(rig, sink, NAMES);
    await rig.worker({ provider: resend(sink), leaseSeconds: 3, timeoutMs: 2_000 }).resolveOnce();
    expect(await rig.states()).toEqual({ unknown: 4 });
    expect((await sink.stats()).requests).toBe(1);
  });

  it('by a provider without keys is found out about one by one', async () => {
    await rig.request(NAMES);
    await sink.script('postmark', [LOST]);
    const worker = rig.worker({ provider: postmark(sink) });
    await work(worker, 'unknown');
    await rig.query(`UPDATE attempts SET started_at = started_at - interval '15 minutes'`);
    await worker.resolveOnce();
    expect(await rig.states()).toEqual({ accepted: 4 });
    expect(await sink.stats()).toMatchObject({ requests: 1, lookups: 4, distinct: 4, doubled: 0 });
  });
});

describe('a dispatcher that is killed', () => {
  it.each([
    ['dispatch.after-intents', 0],
    ['dispatch.before-call', 0],
    ['dispatch.after-call', 4],
    ['dispatch.after-record', 4],
  ])('at %s: all are unknown, are called again together, and each has one effect', async (point, effects) => {
    await killAt(point);
    expect((await sink.stats()).effects).toBe(effects);
    const worker = rig.worker({ provider: resend(sink) });
    await worker.pipeline.runOnce();
    await worker.resolveOnce();
    expect(await states()).toEqual(NAMES.map(() => 'accepted 1'));
    for (const { keys, bodies, batches } of await all()) expect([keys, bodies]).toEqual([batches, 1]);
    expect(await requests()).toBe(effects === 0 ? 1 : 2);
  });
});
