import { SeamLine, type SeamFault } from '../../support/seams.ts';
import type { Bench } from './bench.ts';
import { isHeldUp } from './held-up.ts';
import type { Scenario } from './scenarios.ts';
import { travel } from './travel.ts';

export interface Struck {
  /** Whether the run came to the seam. */
  readonly reached: boolean;
  readonly flaws: readonly string[];
  /** Whether the others had to wait until the one who hangs let go. */
  readonly heldUp: boolean;
}

type Suffered = Omit<Struck, 'flaws'>;

/** The names of all waits of a scenario in which nothing fails, which must itself be right. */
export async function seamsOf(
  bench: Bench,
  scenario: Scenario,
): Promise<{ seams: readonly string[]; flaws: string[] }> {
  await bench.reset();
  await scenario.seed(bench.rig, bench.api);
  const line = new SeamLine(null);
  await travel(bench.place, bench.rig.dataSource, scenario, line);
  const flaws = (await bench.clock.isQuiet()) ? [] : ['the worker did not come to an end by itself'];
  return { seams: line.passed, flaws: [...flaws, ...(await bench.flaws())] };
}

/** One run with one fault, the others' work after it, and the judgement. */
export async function strike(bench: Bench, scenario: Scenario, fault: SeamFault): Promise<Struck> {
  await bench.reset();
  await scenario.seed(bench.rig, bench.api);
  const suffered = await suffer(bench, scenario, fault);
  await scenario.redeliver?.(bench.rig);
  await bench.othersGoOn(scenario);
  return { ...suffered, flaws: await bench.flaws(fault.way !== 'hang') };
}

async function suffer(bench: Bench, scenario: Scenario, fault: SeamFault): Promise<Suffered> {
  switch (fault.way) {
    case 'before':
    case 'unacknowledged': {
      const line = new SeamLine(fault);
      await travel(bench.place, bench.rig.dataSource, scenario, line);
      return { reached: line.reached, heldUp: false };
    }
    case 'hang':
      return await hang(bench, scenario, fault);
    case 'exit':
      return { reached: await bench.children.run(bench, scenario, fault), heldUp: false };
  }
}

/** The others go on as if it were dead; then it wakes up and does what it was about to do. */
async function hang(bench: Bench, scenario: Scenario, fault: SeamFault): Promise<Suffered> {
  const line = new SeamLine(fault);
  const travelled = travel(bench.place, bench.rig.dataSource, scenario, line);
  const first = await Promise.race([line.struck, travelled]);
  if (first !== 'struck') return { reached: false, heldUp: false };
  const others = bench.othersGoOn(scenario);
  try {
    return { reached: true, heldUp: await isHeldUp(bench.rig, others) };
  } finally {
    line.release();
    await Promise.all([travelled, others]);
  }
}
