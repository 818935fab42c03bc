import { createDatabase } from '../../support/database.ts';
import { migrateUp } from '../../support/migrate-up.ts';
import { startStack, stopServersOnSignals } from '../../support/stack/stack.ts';
import { createBench, type Bench } from './bench.ts';
import { interleave } from './interleave.ts';
import { PAIRS } from './interleavings.ts';
import { headline, pairsRow, rowOf, totalsOf, type PairsResult } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import { EVERY_SEAM, strikeAll, type ScenarioResult } from './strike-all.ts';

/** Everything, on a database of its own. Says whether nothing failed. @param words parts of names; none for all */
export async function runFaults(words: readonly string[]): Promise<boolean> {
  stopServersOnSignals({ exitCode: null, log: progress });
  const stack = await startStack({ mode: 'throwaway', kafka: false, log: progress });
  try {
    const template = await createDatabase(stack.databaseUrl);
    await migrateUp(template.url);
    const bench = await createBench(stack.databaseUrl, new URL(template.url).pathname.slice(1));
    try {
      return await runAll(bench, words);
    } finally {
      await bench.tearDown();
      await template.drop();
    }
  } finally {
    await stack.stop();
  }
}

async function runAll(bench: Bench, words: readonly string[]): Promise<boolean> {
  const wanted = ({ name }: { readonly name: string }): boolean =>
    words.length === 0 || words.some((word) => name.includes(word));
  const results: ScenarioResult[] = [];
  console.log(headline());
  for (const scenario of SCENARIOS.filter(wanted)) {
    const result = await strikeAll(bench, scenario, EVERY_SEAM);
    results.push(result);
    console.log(rowOf(result));
  }
  const pairs = await runPairs(bench, wanted);
  console.log(pairsRow(pairs));
  const totals = totalsOf(results, pairs);
  console.log(JSON.stringify(totals));
  return totals.failed === 0 && results.length + pairs.pairs > 0;
}

async function runPairs(bench: Bench, wanted: (pair: { readonly name: string }) => boolean): Promise<PairsResult> {
  const failures: string[] = [];
  const pairs = PAIRS.filter(wanted);
  for (const pair of pairs) {
    try {
      const { reached, flaws } = await interleave(bench, pair);
      if (!reached) failures.push(`${pair.name}: the point was not reached`);
      failures.push(...flaws.map((flaw) => `${pair.name}: ${flaw}`));
    } catch (error) {
      failures.push(`${pair.name}: the run itself failed: ${String(error)}`);
    }
  }
  return { pairs: pairs.length, failures };
}

function progress(line: string): void {
  console.error(`faults: ${line}`);
}
