import { afterEach, expect, inject, it } from 'vitest';
import { openJourney, type Journey } from './journey.ts';
import { silentNarrator } from './narrator.ts';
import { prove, PROOF_CONFIG, PROOF_ENV } from './prove-journey.ts';

let journey: Journey | undefined;
let proven = false;
afterEach(async () => {
  await journey?.close({ keepLogs: !proven });
});

it('loses nothing and doubles nothing under kill -9 of every role', { timeout: 300_000 }, async () => {
  journey = await openJourney({
    databaseUrl: inject('databaseUrl'),
    kafkaBrokers: inject('kafkaBrokers'),
    recipients: 1_500,
    config: PROOF_CONFIG,
    env: PROOF_ENV,
  });
  const { verdict, operations, kills } = await prove(journey, { kills: 4, replicas: 1, seed: 1 }, silentNarrator);
  const found = { ...verdict, kills, byState: undefined, mailsByState: undefined, unknown: undefined };
  expect(found).toEqual({ kills: 4, lost: [], doubled: [], disagreements: [] });
  const { accepted = 0, unknown = 0, suppressed = 0 } = verdict.byState;
  expect(accepted + unknown + suppressed).toBe(operations.length);
  expect(verdict.unknown).toHaveLength(unknown);
  proven = true;
});
