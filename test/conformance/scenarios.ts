import { BATCH_SCENARIOS } from './batch-scenarios.ts';
import { CALL_SCENARIOS } from './call-scenarios.ts';
import { ABILITY_SCENARIOS, LIFE_SCENARIOS } from './life-scenarios.ts';
import { LOOKUP_SCENARIOS } from './lookup-scenarios.ts';
import type { Scenario } from './notes.ts';

/** The rows of the table, in its order. */
export const SCENARIOS: readonly Scenario[] = [
  ...ABILITY_SCENARIOS,
  ...CALL_SCENARIOS,
  ...BATCH_SCENARIOS,
  ...LOOKUP_SCENARIOS,
  ...LIFE_SCENARIOS,
];
