import type { CaseResult } from './notes.ts';
import { SCENARIOS } from './scenarios.ts';

const SHORT: Readonly<Record<string, string>> = {
  accepted: 'ok',
  ambiguous: 'amb',
  'not-sent': 'not',
  throttled: 'thr',
  rejected: 'rej',
  suppressed: 'sup',
  account: 'acc',
  duplicate: 'dup',
  concurrent: 'con',
  'key-mismatch': 'mis',
  failed: 'fail',
};

const LEGEND = [
  'A cell is the outcome and the effects that the sink counted, after the call and after the walk where that changed them.',
  'ok accepted, amb ambiguous, not not-sent, thr throttled, rej rejected, sup suppressed, acc account, dup duplicate,',
  'con concurrent, mis key-mismatch; lookups: hit, miss, fail. ! failed, blank: this provider cannot have it.',
];

/** The table provider × fault, and what is wrong below it. */
export function reportOf(results: readonly CaseResult[]): string {
  const columns = [...new Set(results.map(({ stand }) => stand))];
  const rows = SCENARIOS.map(({ row }) => row).filter((row) => results.some((result) => result.row === row));
  const first = Math.max(...rows.map(({ length }) => length));
  const widths = columns.map((name) => Math.max(7, name.length));
  const line = (head: string, cells: readonly string[]): string => {
    return [head.padEnd(first), ...cells.map((cell, index) => cell.padEnd(widths[index] ?? 0))].join('  ').trimEnd();
  };
  const table = rows.map((row) =>
    line(
      row,
      columns.map((stand) => cellOf(results.find((result) => result.stand === stand && result.row === row))),
    ),
  );
  const problems = results.flatMap(({ stand, row, problems }) =>
    problems.map((problem) => `${stand}, ${row}: ${problem}`),
  );
  const failures = problems.length === 0 ? [] : ['', ...problems];
  return [line('', columns), ...table, '', ...LEGEND, ...failures].join('\n');
}

function cellOf(result: CaseResult | undefined): string {
  if (result === undefined) return '';
  const outcome = result.outcome === null ? 'yes' : (SHORT[result.outcome] ?? result.outcome);
  const [first, last] = result.effects ?? [null, null];
  const effects = first === null ? '' : first === last ? ` ${first}` : ` ${first}→${last}`;
  return `${outcome}${effects}${result.problems.length > 0 ? ' !' : ''}`;
}

export interface Totals {
  readonly cases: number;
  readonly failed: number;
  readonly doubled: number;
}

export function totalsOf(results: readonly CaseResult[]): Totals {
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  const doubled = results.filter(({ effects }) => (effects?.[1] ?? 0) > 1).length;
  return { cases: results.length, failed, doubled };
}
