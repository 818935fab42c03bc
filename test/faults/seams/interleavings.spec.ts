import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createBench, type Bench } from './bench.ts';
import { interleave } from './interleave.ts';
import { PAIRS } from './interleavings.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await createBench(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await bench.tearDown());

describe('two workers: one is stopped at a point, another acts, the first goes on', () => {
  it.each(PAIRS.map((pair) => [pair.name, pair] as const))('%s', async (_name, pair) => {
    expect(await interleave(bench, pair)).toEqual({ reached: true, flaws: [] });
  });
});
