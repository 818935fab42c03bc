import { SEAM_WAYS } from '../../support/seams.ts';
import type { ScenarioResult } from './strike-all.ts';

const FIRST = 40;
const WIDTH = 15;

export interface PairsResult {
  readonly pairs: number;
  /** What is wrong, with the pair's name. */
  readonly failures: readonly string[];
}

export function headline(): string {
  return row('scenario', ['seams', ...SEAM_WAYS, 'held up', 'failed']);
}

/** One row, and what is wrong below it. `held up`: runs in which the others waited for what the hanging one had locked. */
export function rowOf({ scenario, seams, runs, heldUp, failures }: ScenarioResult): string {
  const counts = SEAM_WAYS.map((way) => String(runs[way]));
  const line = row(scenario, [String(seams), ...counts, String(heldUp.length), String(failures.length)]);
  const held = heldUp.length === 0 ? [] : [`  held up at ${heldUp.join(', ')}`];
  return [line, ...held, ...failures.map((failure) => `  ${failure}`)].join('\n');
}

export function pairsRow({ pairs, failures }: PairsResult): string {
  const line = `${pairs} pairs of two workers, ${failures.length} failed`;
  return [line, ...failures.map((failure) => `  ${failure}`)].join('\n');
}

/** The last line. `failed` counts what is wrong with seams and with pairs. */
export function totalsOf(results: readonly ScenarioResult[], pairs: PairsResult) {
  const failed = results.reduce((sum, { failures }) => sum + failures.length, pairs.failures.length);
  return { seams: results.reduce((sum, { seams }) => sum + seams, 0), ways: SEAM_WAYS.length, failed };
}

function row(first: string, cells: readonly string[]): string {
  return [first.padEnd(FIRST), ...cells.map((cell) => cell.padStart(WIDTH))].join('').trimEnd();
}
