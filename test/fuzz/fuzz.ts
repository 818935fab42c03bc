import { parseArgs } from 'node:util';
import { startStack } from '../support/stack/stack.ts';
import type { FuzzPart } from './fuzz-report.ts';
import { runFuzz } from './run-fuzz.ts';

/**
 * `npm run fuzz -- [--bodies 10000] [--records 10000] [--seed 1]`: bad and good input to both entrances of a real process. The last
 * line is JSON; exit code 1 when anything failed.
 */
const SHOWN = 40;
const usage = 'usage: npm run fuzz -- [--bodies 10000] [--records 10000] [--seed 1]';

const plan = readPlan();
if (plan) {
  const stack = await startStack({ mode: 'throwaway', log: (line) => console.error(line) });
  try {
    const { databaseUrl, kafkaBrokers } = stack;
    const result = await runFuzz({ databaseUrl, kafkaBrokers, ...plan });
    const failures = [...result.bodies.failures, ...result.records.failures];
    for (const failure of failures.slice(0, SHOWN)) console.log(`${failure.case}: ${failure.what}`);
    printCounts('bodies', result.bodies);
    printCounts('records', result.records);
    console.log(
      JSON.stringify({
        bodies: result.bodies.done,
        records: result.records.done,
        failed: failures.length,
        seed: plan.seed,
      }),
    );
    process.exitCode = failures.length === 0 ? 0 : 1;
  } finally {
    await stack.stop();
  }
} else {
  console.error(usage);
  process.exitCode = 2;
}

function printCounts(part: string, { counts }: FuzzPart): void {
  for (const [what, count] of Object.entries(counts)) console.log(`${part}: ${what}: ${count}`);
}

function readPlan(): { bodies: number; records: number; seed: number } | null {
  try {
    const { values } = parseArgs({
      options: {
        bodies: { type: 'string', default: '10000' },
        records: { type: 'string', default: '10000' },
        seed: { type: 'string', default: '1' },
      },
    });
    const read = { bodies: Number(values.bodies), records: Number(values.records), seed: Number(values.seed) };
    return Object.values(read).every((value) => Number.isSafeInteger(value) && value >= 0) ? read : null;
  } catch {
    return null;
  }
}
