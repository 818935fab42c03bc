// npm run bench -- [--pair consume|campaign] [--runs N] [--size N] [--cpu]
// One line of JSON per pair on standard output; what happens meanwhile on standard error.
import { startStack, stopServersOnSignals } from '../support/stack/stack.ts';
import { benchGround, progress } from './bench-ground.ts';
import { campaignPair } from './campaign-pair.ts';
import { consumePair } from './consume-pair.ts';
import { rememberCommitTimes } from './ledger-watch.ts';
import { parseOptions, type BenchOptions } from './options.ts';

const PAIRS = { consume: consumePair, campaign: campaignPair };

async function run({ pairs, runs, size, cpu }: BenchOptions): Promise<void> {
  stopServersOnSignals({ exitCode: null, log: progress });
  const stack = await startStack({ mode: 'throwaway', log: progress });
  try {
    await rememberCommitTimes(stack);
    const ground = benchGround(stack, cpu);
    for (const name of pairs) console.log(JSON.stringify(await PAIRS[name](ground, runs, size)));
  } finally {
    await stack.stop();
  }
}

try {
  await run(parseOptions(process.argv.slice(2)));
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
