import { parseArgs } from 'node:util';

export type PairName = 'consume' | 'campaign';

export interface BenchOptions {
  readonly pairs: readonly PairName[];
  readonly runs: number;
  /** Records or recipients of one run; null for each pair's own. */
  readonly size: number | null;
  /** Also the processor time of each process, on standard error. */
  readonly cpu: boolean;
}

const PAIRS: readonly PairName[] = ['consume', 'campaign'];

/** @throws Error with the usage when the words are not understood */
export function parseOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      pair: { type: 'string' },
      runs: { type: 'string', default: '5' },
      size: { type: 'string' },
      cpu: { type: 'boolean', default: false },
    },
  });
  const pairs = values.pair === undefined ? PAIRS : PAIRS.filter((name) => name === values.pair);
  const runs = Number(values.runs);
  const size = values.size === undefined ? null : Number(values.size);
  if (pairs.length === 0 || !isCount(runs) || (size !== null && !isCount(size))) {
    throw new Error(`usage: npm run bench -- [--pair ${PAIRS.join('|')}] [--runs N] [--size N] [--cpu]`);
  }
  return { pairs, runs, size, cpu: values.cpu };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
