import { randomUUID } from 'node:crypto';
import { RETRY_AFTER_SECONDS } from '../support/sinks/api-sink.ts';
import { callOnce, checkEffectId, checkSeen, look, prepare, withProvider } from './calls.ts';
import { FAULTS, type Fault } from './faults.ts';
import { IMPATIENT_MS, PATIENT_MS, type Notes, type Scenario } from './notes.ts';
import { walk } from './resolution-walk.ts';
import type { Stand } from './stand.ts';

const SENT: Scenario = {
  row: 'sent',
  applies: () => true,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const [reference, since] = [randomUUID(), new Date()];
      const call = prepare(provider, stand.outgoing(reference), notes);
      const other = provider.prepare(stand.outgoing(reference, 'other'), provider.shape);
      notes.check(other.ok && !other.call.hash.equals(call.hash), 'other content has the same hash');
      const outcome = await callOnce(stand, call, PATIENT_MS, notes);
      notes.outcome = outcome.kind;
      notes.check(
        outcome.kind === 'accepted',
        `${outcome.kind} (${outcome.code}: ${outcome.diagnostic}), not accepted`,
      );
      const seen = await stand.seen(reference);
      checkSeen(stand, seen, notes);
      notes.check(seen.effects === 1, `${seen.effects} effects, not 1`);
      if (outcome.kind === 'accepted') {
        checkEffectId(outcome.effectId, seen, notes);
        const isCall = stand.outgoing(reference).kind === 'http';
        notes.check((outcome.result !== undefined) === isCall, 'the result of a call is missing, or a mail has one');
      }
      if (stand.key !== 'none') await again();
      if (stand.lookup) {
        const found = await look(stand, provider, reference, since);
        notes.check(found.kind === 'hit', `looked up: ${found.kind} (${found.code})`);
        notes.walked(found.kind);
      }

      async function again(): Promise<void> {
        const second = await callOnce(stand, call, PATIENT_MS, notes);
        const right = stand.key === 'replay' ? 'accepted' : 'duplicate';
        notes.check(second.kind === right, `sent again: ${second.kind}, not ${right}`);
        checkSeen(stand, await stand.seen(reference), notes);
        notes.walked(second.kind);
      }
    });
  },
};

const CHANGED: Scenario = {
  row: 'sent with other content',
  applies: (stand) => stand.comparesPayload,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const reference = randomUUID();
      const first = await callOnce(stand, prepare(provider, stand.outgoing(reference), notes), PATIENT_MS, notes);
      notes.check(first.kind === 'accepted', `${first.kind}, not accepted`);
      const changed = prepare(provider, stand.outgoing(reference, 'changed'), notes);
      const outcome = await callOnce(stand, changed, PATIENT_MS, notes);
      notes.outcome = outcome.kind;
      notes.check(outcome.kind === 'key-mismatch', `${outcome.kind}, not key-mismatch`);
      const seen = await stand.seen(reference);
      notes.counted(seen.effects);
      notes.check(seen.effects === 1, `${seen.effects} effects, not 1`);
    });
  },
};

function faultScenario(fault: Fault): Scenario {
  return {
    row: fault.name,
    applies: (stand) => stand.suffers(fault),
    run: async (stand, notes) => await suffer(fault, stand, notes),
  };
}

async function suffer(fault: Fault, stand: Stand, notes: Notes): Promise<void> {
  await withProvider(stand.open(), async (provider) => {
    const [reference, since] = [randomUUID(), new Date()];
    const call = prepare(provider, stand.outgoing(reference), notes);
    await stand.arm(fault);
    const outcome = await callOnce(stand, call, fault.endedBy === 'server' ? PATIENT_MS : IMPATIENT_MS, notes);
    notes.outcome = outcome.kind;
    if (outcome.kind === 'throttled' && fault.name === 'throttled' && stand.saysRetryAfter) {
      notes.check(outcome.retryAfterMs === RETRY_AFTER_SECONDS * 1000, `retryAfterMs is ${outcome.retryAfterMs}`);
    }
    const right = fault.otherwise[stand.name] ?? fault.outcomes;
    notes.check(right.includes(outcome.kind), `${outcome.kind} (${outcome.code}), not ${right.join(' or ')}`);
    const held = fault.endedBy === 'silence';
    if (held) notes.check((await stand.stalled()) === 1, 'the outcome waited for the server');
    const seen = await stand.seen(reference);
    checkSeen(stand, seen, notes);
    notes.check(seen.effects === fault.effects, `${seen.effects} effects, not ${fault.effects}`);
    if (outcome.kind === 'ambiguous') await walk({ stand, provider, call, reference, since, held, notes });
  });
}

/** Keep-alive has it that what a server says too much waits for whoever asks next. */
const ANSWERED_TWICE: Scenario = {
  row: 'answered twice',
  applies: (stand) => stand.suffersTwice,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const references = [randomUUID(), randomUUID(), randomUUID()];
      await stand.armTwice();
      for (const reference of references) {
        const outcome = await callOnce(stand, prepare(provider, stand.outgoing(reference), notes), PATIENT_MS, notes);
        notes.outcome ??= outcome.kind;
        const seen = await stand.seen(reference);
        checkSeen(stand, seen, notes);
        if (outcome.kind === 'accepted') {
          notes.check(seen.effects === 1, 'accepted without an effect');
          checkEffectId(outcome.effectId, seen, notes);
        } else {
          notes.check(outcome.kind === 'ambiguous', `${outcome.kind}, neither accepted nor ambiguous`);
        }
      }
    });
  },
};

/** What one call to a server comes to, and what the walk after it finds. */
export const CALL_SCENARIOS: readonly Scenario[] = [SENT, CHANGED, ...FAULTS.map(faultScenario), ANSWERED_TWICE];
