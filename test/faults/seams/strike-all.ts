import { SEAM_WAYS, type SeamWay } from '../../support/seams.ts';
import { THROWING } from '../../support/seams-worker.ts';
import type { Bench } from './bench.ts';
import type { Scenario } from './scenarios.ts';
import { seamsOf, strike, type Struck } from './strike.ts';

export interface ScenarioResult {
  readonly scenario: string;
  readonly seams: number;
  readonly runs: Readonly<Record<SeamWay, number>>;
  /** Seams at which the others had to wait until the one who hangs let go. */
  readonly heldUp: readonly string[];
  /** What is wrong, with the way and the name of the seam. */
  readonly failures: readonly string[];
}

/** Of each way, every so manieth seam is struck; 1 for all. */
export type Density = Readonly<Partial<Record<SeamWay, number>>>;

export const EVERY_SEAM: Density = { before: 1, unacknowledged: 1, hang: 1, exit: 1 };

/** First the run without a fault, which tells the seams; then one run for each seam and way. */
export async function strikeAll(bench: Bench, scenario: Scenario, density: Density): Promise<ScenarioResult> {
  const { seams, flaws } = await seamsOf(bench, scenario);
  const failures = flaws.map((flaw) => `no fault: ${flaw}`);
  const heldUp: string[] = [];
  const runs = { before: 0, unacknowledged: 0, hang: 0, exit: 0 };
  for (const way of SEAM_WAYS) {
    for (const seam of chosen(seams, way, density[way] ?? 0)) {
      const struck = await attempt(async () => await strike(bench, scenario, { seam, way }));
      runs[way] += 1;
      if (struck.heldUp) heldUp.push(seam);
      if (!struck.reached && !scenario.overlaps) failures.push(`${way} at ${seam}: it was not reached`);
      failures.push(...struck.flaws.map((flaw) => `${way} at ${seam}: ${flaw}`));
    }
  }
  return { scenario: scenario.name, seams: seams.length, runs, heldUp, failures };
}

/** A provider that throws is one more way to lose a call, and none to hang or to die. */
function chosen(seams: readonly string[], way: SeamWay, every: number): readonly string[] {
  const fitting = way === 'hang' || way === 'exit' ? seams.filter((seam) => !seam.startsWith(THROWING)) : seams;
  return every === 0 ? [] : fitting.filter((_, index) => index % every === 0);
}

async function attempt(run: () => Promise<Struck>): Promise<Struck> {
  try {
    return await run();
  } catch (error) {
    return { reached: true, heldUp: false, flaws: [`the run itself failed: ${String(error)}`] };
  }
}
