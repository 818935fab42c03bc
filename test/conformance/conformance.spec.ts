import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnSinks, type Sinks } from '../support/sinks/api-sink.ts';
import type { CaseResult } from './notes.ts';
import { allCases, runCases } from './run-suite.ts';

let sinks: Sinks | null = null;
const results = new Map<string, CaseResult>();

const cases = allCases(() => {
  if (sinks === null) throw new Error('the sinks do not run yet');
  return sinks;
});
const named = cases.map(({ stand, scenario }) => [stand.name, scenario.row] as const);

beforeAll(async () => {
  sinks = await spawnSinks();
  for (const result of await runCases(cases)) results.set(`${result.stand} ${result.row}`, result);
  // Some 20 s on two free cores; the files beside this one want them too.
}, 180_000);
afterAll(async () => await sinks?.stop());

describe('conformance of providers', () => {
  it.each(named)('%s: %s', (stand, row) => {
    expect(results.get(`${stand} ${row}`)?.problems).toEqual([]);
  });

  it('no request went to a path that no vendor has', async () => {
    expect(await sinks?.api.strays()).toEqual([]);
  });
});
