import type { PreparedCall, Provider } from '../../src/providers/provider.port.ts';
import { callOnce, checkEffectId, checkSeen, look, releaseAll } from './calls.ts';
import { PATIENT_MS, type Notes } from './notes.ts';
import type { OutcomeKind, Stand } from './stand.ts';

interface Lost {
  readonly stand: Stand;
  readonly provider: Provider;
  readonly call: PreparedCall;
  readonly reference: string;
  readonly since: Date;
  /** Whether the server still holds the first request back. */
  readonly held: boolean;
  readonly notes: Notes;
}

/** Does after an ambiguous call what the abilities allow. There must never be a second effect, and evidence must be found. */
export async function walk(lost: Lost): Promise<void> {
  const { stand, reference, held, notes } = lost;
  await stand.disarm();
  if (held) {
    if (stand.key !== 'none') await callWhileHeld(lost);
    await releaseAll(stand, reference, 1);
  }
  if (stand.key !== 'none') await callAgain(lost);
  if (stand.lookup) await ask(lost);
  checkSeen(stand, await stand.seen(reference), notes);
}

/** A second call while the first is still at the server: whatever it says, the first may yet have its effect. */
async function callWhileHeld({ stand, call, reference, notes }: Lost): Promise<void> {
  const { effects } = await stand.seen(reference);
  const outcome = await callOnce(stand, call, PATIENT_MS, notes);
  const running: readonly OutcomeKind[] = stand.comparesPayload ? ['concurrent'] : ['accepted'];
  const right: readonly OutcomeKind[] =
    stand.key === 'reject-duplicate' ? ['duplicate'] : effects === 1 ? ['accepted'] : running;
  notes.check(right.includes(outcome.kind), `called again while held: ${outcome.kind}, not ${right.join(' or ')}`);
  notes.walked(`held ${outcome.kind}`);
}

async function callAgain({ stand, call, reference, notes }: Lost): Promise<void> {
  const before = await stand.seen(reference);
  const outcome = await callOnce(stand, call, PATIENT_MS, notes);
  const right = stand.key === 'reject-duplicate' && before.effects === 1 ? 'duplicate' : 'accepted';
  notes.check(outcome.kind === right, `called again with the key: ${outcome.kind}, not ${right}`);
  const after = await stand.seen(reference);
  notes.check(after.effects === 1, `${after.effects} effects after the second call`);
  if (outcome.kind === 'accepted' && stand.comparesPayload) checkEffectId(outcome.effectId, after, notes);
  notes.walked(outcome.kind);
}

async function ask({ stand, provider, reference, since, notes }: Lost): Promise<void> {
  const seen = await stand.seen(reference);
  await stand.armLookup('late');
  const early = await look(stand, provider, reference, since);
  notes.check(early.kind === 'miss', `looked up before the index showed it: ${early.kind}`);
  await stand.disarm();
  const found = await look(stand, provider, reference, since);
  const right = seen.effects === 1 ? 'hit' : 'miss';
  notes.check(found.kind === right, `looked up: ${found.kind} (${found.code}), not ${right}`);
  notes.checkWords(found, found.kind);
  if (found.kind === 'hit') checkEffectId(found.effectId, seen, notes);
  notes.walked(found.kind);
}
