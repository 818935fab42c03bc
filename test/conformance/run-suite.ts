import type { Sinks } from '../support/sinks/api-sink.ts';
import { Notes, type CaseResult, type Scenario } from './notes.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Stand } from './stand.ts';
import { createStands } from './stands.ts';

export interface Case {
  readonly stand: Stand;
  readonly scenario: Scenario;
}

/** Every scenario for every provider that it applies to. @param sinks asked only when a case runs */
export function allCases(sinks: () => Sinks): readonly Case[] {
  return createStands(sinks).flatMap((stand) =>
    SCENARIOS.filter((scenario) => scenario.applies(stand)).map((scenario) => ({ stand, scenario })),
  );
}

/** Providers at once, the cases of one in turn. @param told called after each case */
export async function runCases(
  cases: readonly Case[],
  told: (result: CaseResult) => void = () => undefined,
): Promise<readonly CaseResult[]> {
  const byStand = Map.groupBy(cases, ({ stand }) => stand);
  const results = await Promise.all([...byStand].map(async ([stand, own]) => await runStand(stand, own, told)));
  return results.flat();
}

async function runStand(
  stand: Stand,
  cases: readonly Case[],
  told: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const { scenario } of cases) {
    const result = await runCase(stand, scenario);
    results.push(result);
    told(result);
  }
  return results;
}

async function runCase(stand: Stand, scenario: Scenario): Promise<CaseResult> {
  const notes = new Notes();
  const before = (await stand.complaints()).length;
  try {
    await scenario.run(stand, notes);
  } catch (error) {
    notes.check(false, error instanceof Error ? error.message : String(error));
  } finally {
    await stand.disarm();
    await stand.release();
  }
  for (const complaint of (await stand.complaints()).slice(before))
    notes.check(false, `refused for its form: ${complaint}`);
  return notes.result(stand, scenario.row);
}
