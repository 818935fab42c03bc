import { randomUUID } from 'node:crypto';
import type { LookupOutcome } from '../../src/providers/provider.port.ts';
import { RETRY_AFTER_SECONDS } from '../support/sinks/api-sink.ts';
import { checkSeen, look, prepare, withProvider } from './calls.ts';
import { IMPATIENT_MS, PATIENT_MS, type Scenario } from './notes.ts';
import type { LookupFault } from './stand.ts';

function lookupScenario(row: string, fault: LookupFault, right: LookupOutcome['kind']): Scenario {
  return {
    row,
    applies: (stand) => stand.lookup,
    run: async (stand, notes) => {
      await withProvider(stand.open(), async (provider) => {
        const [reference, since] = [randomUUID(), new Date()];
        await prepare(provider, stand.outgoing(reference), notes).send(PATIENT_MS);
        await stand.armLookup(fault);
        const found = await look(stand, provider, reference, since, fault === 'stall' ? IMPATIENT_MS : PATIENT_MS);
        notes.outcome = found.kind;
        notes.checkWords(found, found.kind);
        notes.check(found.kind === right, `${found.kind} (${found.code}), not ${right}`);
        if (fault === 'throttled' && stand.saysRetryAfter && found.kind === 'failed') {
          notes.check(found.retryAfterMs === RETRY_AFTER_SECONDS * 1000, `retryAfterMs is ${found.retryAfterMs}`);
        }
        if (fault === 'stall') await stand.release();
        checkSeen(stand, await stand.seen(reference), notes);
      });
    },
  };
}

/** A mail of ours that nobody sent, looked up where another one to the same recipient with the same subject was. */
function foreignEvidence(row: string, fault: LookupFault | null, applies: Scenario['applies']): Scenario {
  return {
    row,
    applies,
    run: async (stand, notes) => {
      await withProvider(stand.open(), async (provider) => {
        const [sent, asked, since] = [randomUUID(), randomUUID(), new Date()];
        // The same recipient and subject, another reference.
        const twin = { ...stand.outgoing(asked), reference: sent };
        const outgoing = twin.kind === 'email' ? twin : stand.outgoing(sent);
        const outcome = await prepare(provider, outgoing, notes).send(PATIENT_MS);
        notes.check(outcome.kind === 'accepted', `${outcome.kind} (${outcome.code}), not accepted`);
        if (fault !== null) await stand.armLookup(fault);
        const found = await look(stand, provider, asked, since);
        notes.outcome = found.kind;
        notes.check(found.kind !== 'hit', 'a mail that may be another is taken for ours');
      });
    },
  };
}

export const LOOKUP_SCENARIOS: readonly Scenario[] = [
  foreignEvidence('lookup: another mail', null, (stand) => stand.lookup),
  foreignEvidence('lookup: no references', 'careless', (stand) => stand.lookupShowsReference),
  lookupScenario('lookup: too early', 'late', 'miss'),
  lookupScenario('lookup: 500', 'server-error', 'failed'),
  lookupScenario('lookup: throttled', 'throttled', 'failed'),
  lookupScenario('lookup: HTML', 'garbage', 'failed'),
  lookupScenario('lookup: silence', 'stall', 'failed'),
  lookupScenario('lookup: dropped', 'drop', 'failed'),
];
