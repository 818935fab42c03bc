import { gateAt } from '../../../src/runtime/signal.ts';
import type { Worker } from '../../support/dispatch-worker.ts';
import { createSeamProvider, seamWorkerOptions } from '../../support/seams-worker.ts';
import { cancelIt, decideIt, reportIt } from './acts.ts';
import type { Bench } from './bench.ts';
import { isHeldUp } from './held-up.ts';
import { LOSES_ANSWER, type Act, type Doing, type Ground, type Pair } from './interleavings.ts';
import { NAME } from './scenarios.ts';
import { untilIdle } from './work.ts';

export interface Interleaved {
  /** Whether the first came to the point, so that the other could act there. */
  readonly reached: boolean;
  readonly flaws: readonly string[];
}

/** Goes on with what an act has begun, after the first is done. */
type Rest = () => Promise<void>;

/** A is stopped at the point, B acts there as far as it can, A goes on, everything comes to its end, and the judge decides. */
export async function interleave(bench: Bench, { ground, point, act }: Pair): Promise<Interleaved> {
  await bench.reset();
  await ground.seed(bench.rig, bench.api);
  const first = workerOf(bench, ground);
  if (ground.unknown) await makeUnknown(bench, first);
  const reached = await meet(bench, ground, first, point, act);
  await bench.othersGoOn(ground);
  return { reached, flaws: await bench.flaws() };
}

async function meet(bench: Bench, ground: Ground, first: Worker, point: string, act: Act): Promise<boolean> {
  using gate = gateAt(point);
  const doing = doIt(bench, first, ground.doing);
  const came = await Promise.race([gate.reached.then(() => true), doing.then(() => false)]);
  if (!came) return false;
  const acted = actOf(bench, ground, act);
  await isHeldUp(bench.rig, acted);
  gate.open(point.endsWith(LOSES_ANSWER) ? new Error('the answer was lost') : undefined);
  // Whoever waits for a lock of the other goes on by now, in whatever order.
  const [rest] = await Promise.all([acted, doing]);
  await rest();
  return true;
}

/** One pass of A. An error is logged by the loops of the service, or has the request delivered again; both are the end of it here. */
async function doIt(bench: Bench, first: Worker, doing: Doing): Promise<void> {
  const { rig } = bench;
  switch (doing) {
    case 'dispatch':
      await first.pipeline.runOnce();
      return await untilIdle(first);
    case 'resolve':
      return await first.resolveOnce();
    case 'rescue':
      return void (await rig.rescue().catch(() => undefined));
    case 'cancel':
      return await cancelIt(rig, NAME);
    case 'receipt':
      return await reportIt(rig, NAME);
    case 'person says sent':
      return void (await decideIt(rig, NAME, 'sent'));
    case 'person says not sent':
      return void (await decideIt(rig, NAME, 'not-sent'));
  }
}

async function actOf(bench: Bench, ground: Ground, act: Act): Promise<Rest> {
  const { rig } = bench;
  switch (act) {
    case 'rescue':
      await rescue(bench);
      return nothing;
    case 'all goes on':
      await bench.othersGoOn(ground);
      return nothing;
    case 'another is about to call':
      return await callToo(bench, ground);
    case 'another is about to call and hangs': {
      const rest = await callToo(bench, ground);
      return async () => {
        await bench.othersGoOn(ground);
        await rest();
      };
    }
    case 'a person resends, another is about to call':
      await rescue(bench);
      await decideIt(rig, NAME, 'not-sent');
      return await callToo(bench, ground);
    case 'another is about to replay':
      return await replayToo(bench, ground);
    case 'cancel':
      await cancelIt(rig, NAME);
      return nothing;
    case 'receipt':
      await reportIt(rig, NAME, 'accepted');
      return nothing;
    case 'suppress':
      await rig.suppress(NAME);
      return nothing;
    case 'person says sent':
      return await decide(bench, 'sent');
    case 'person says not sent':
      return await decide(bench, 'not-sent');
  }
}

async function nothing(): Promise<void> {}

/** What hangs is taken for dead. */
async function rescue({ rig, clock }: Bench): Promise<void> {
  await clock.endLeases();
  await rig.rescue();
}

/** A person can only speak of what is unknown. */
async function decide(bench: Bench, as: 'sent' | 'not-sent'): Promise<Rest> {
  await rescue(bench);
  await decideIt(bench.rig, NAME, as);
  return nothing;
}

/** Looks at everything until it is stopped before a call, or has nothing to call. */
async function callToo(bench: Bench, ground: Ground): Promise<Rest> {
  const worker = workerOf(bench, ground);
  await rescue(bench);
  await bench.clock.pass();
  await worker.resolveOnce();
  await bench.clock.pass();
  return await stopAt('dispatch.before-call', async () => {
    await worker.pipeline.runOnce();
    await untilIdle(worker);
  });
}

async function replayToo(bench: Bench, ground: Ground): Promise<Rest> {
  const worker = workerOf(bench, ground);
  await rescue(bench);
  await bench.clock.pass();
  return await stopAt('resolve.before-call', async () => await worker.resolveOnce());
}

async function stopAt(point: string, work: () => Promise<void>): Promise<Rest> {
  const gate = gateAt(point);
  const working = work();
  const came = await Promise.race([gate.reached.then(() => true), working.then(() => false)]);
  // Else the first would be stopped there.
  if (!came) gate.open();
  return async () => {
    gate.open();
    await working;
  };
}

async function makeUnknown({ rig, clock }: Bench, worker: Worker): Promise<void> {
  await worker.pipeline.runOnce();
  await untilIdle(worker);
  if (!(await rig.allIn('unknown'))) throw new Error(`it is not unknown: ${JSON.stringify(await rig.states())}`);
  // Old enough for a lookup, and no receipt is waited for.
  await clock.pass();
}

function workerOf({ rig, place }: Bench, ground: Ground): Worker {
  return rig.worker({
    ...seamWorkerOptions(ground),
    provider: createSeamProvider(place, ground.provider),
  });
}
