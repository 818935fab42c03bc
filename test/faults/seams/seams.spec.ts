import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { SeamWay } from '../../support/seams.ts';
import { createBench, type Bench } from './bench.ts';
import { scenarioNamed } from './scenarios.ts';
import { strikeAll } from './strike-all.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await createBench(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await bench.tearDown());

/** A sample; `npm run faults` does them all, in every scenario. */
describe('a fault at the seams of a dispatch', () => {
  it.each<[SeamWay, number]>([
    ['before', 1],
    ['unacknowledged', 1],
    ['hang', 3],
    ['exit', 3],
  ])('%s, at every one or every third: one effect, or it is said that it is not known', async (way, every) => {
    const { runs, failures } = await strikeAll(bench, scenarioNamed('dispatch'), { [way]: every });
    expect(failures).toEqual([]);
    expect(runs[way]).toBeGreaterThan(2);
  });
});
