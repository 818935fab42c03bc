import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { DispatcherService } from '../../src/dispatch/dispatcher.service.ts';
import { PollingLoop } from '../../src/runtime/polling-loop.ts';
import { gateAt } from '../../src/runtime/signal.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { startDispatchProcess, type DispatchProcess } from '../support/dispatch-process.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { eventually } from '../support/eventually.ts';

let rig: DispatchRig;
let dispatcher: DispatchProcess | null = null;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());
afterEach(async () => {
  await rig.sink.release();
  await dispatcher?.discard();
  dispatcher = null;
});

const NAMES = Array.from({ length: 20 }, (_, index) => `n${index}`);

/** A dispatcher with two calls that hang at the server and 18 operations behind them. */
async function busyDispatcher(env: Readonly<Record<string, string>> = {}): Promise<DispatchProcess> {
  await rig.request(NAMES);
  await rig.sink.script([{ phase: 'accepted', times: 2, action: { do: 'stall' } }]);
  dispatcher = await startDispatchProcess(rig, { kafkaBrokers: inject('kafkaBrokers'), env });
  await eventually('the calls', 20_000, async () => (await rig.sink.stats()).stalled === 2);
  return dispatcher;
}

describe('SIGTERM', () => {
  it('gives back at once what is not called yet, finishes what is, and ends with 0', async () => {
    const first = await busyDispatcher();
    const ended = first.stop();
    await eventually('what it held to be free', 10_000, async () => {
      const states = await rig.states();
      return states['queued'] === 18 && states['calling'] === 2;
    });
    // Another one takes over while the first still waits for its two answers.
    await rig.worker().workUntil('the others', async () => (await rig.states())['accepted'] === 18);
    await rig.sink.release();
    expect(await ended).toBe(0);
    expect(await rig.states()).toEqual({ accepted: 20 });
    expect(await rig.sink.stats()).toMatchObject({ accepted: 20, distinct: 20, doubled: 0 });
  });

  it('does not wait for ever: calls without an answer are ended and told as unknown', async () => {
    const first = await busyDispatcher({ EINMAL_SHUTDOWN_SECONDS: '28' });
    expect(await first.stop()).toBe(0);
    expect(await rig.states()).toEqual({ queued: 18, unknown: 2 });
    const rows = await rig.query<{ outcome: string }>('SELECT outcome FROM attempts');
    expect(rows).toEqual([{ outcome: 'ambiguous' }, { outcome: 'ambiguous' }]);
  });

  it('ends with 0 inside a bound that is too short for that: the lease tells the rest', async () => {
    const first = await busyDispatcher({ EINMAL_SHUTDOWN_SECONDS: '4' });
    expect(await first.stop()).toBe(0);
    expect(await rig.states()).toEqual({ queued: 18, calling: 2 });
    await rig.endLeases();
    expect(await rig.rescue()).toEqual({ queued: 0, unknown: 2, dead: 0, released: 0 });
  });
});

describe('a stop during the claim', () => {
  it('gives back what the last pass has claimed before the connections are closed', async () => {
    await rig.request(NAMES);
    const worker = rig.worker();
    const rescue = new PollingLoop({
      name: 'rescue',
      runOnce: () => Promise.resolve('idle'),
      idleMs: { min: 1_000, max: 1_000 },
      logger: silentLogger,
    });
    const service = new DispatcherService(
      () => worker.pipeline,
      [worker.lane],
      rescue,
      worker.resolver,
      { min: 10, max: 10 },
      silentLogger,
    );
    using gate = gateAt('dispatch.after-claim');
    service.start();
    await gate.reached;
    const stopped = service.stop(20_000);
    gate.open();
    await stopped;
    expect(await rig.states()).toEqual({ queued: 20 });
    expect((await rig.sink.stats()).transactions).toBe(0);
  });
});
