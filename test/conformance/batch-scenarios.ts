import { randomUUID } from 'node:crypto';
import type { CallOutcome, PreparedBatch, PreparedCall, Provider } from '../../src/providers/provider.port.ts';
import { eventually } from '../support/eventually.ts';
import { bounded, checkEffectId, checkSeen, withProvider } from './calls.ts';
import { FAULTS, type Fault } from './faults.ts';
import { IMPATIENT_MS, PATIENT_MS, type Notes, type Scenario } from './notes.ts';
import type { OutcomeKind, Stand } from './stand.ts';

/** What one batch is about, and how it is made. */
interface Batch {
  readonly stand: Stand;
  readonly references: readonly string[];
  /** Made anew, as a second worker would. */
  readonly make: () => PreparedBatch;
  readonly notes: Notes;
}

type Run = (batch: Batch) => Promise<void>;

const MESSAGES = 3;

function scenario(row: string, applies: (stand: Stand) => boolean, run: Run): Scenario {
  return {
    row: `batch: ${row}`,
    applies: (stand) => stand.batch !== null && applies(stand),
    run: async (stand, notes) => {
      if (stand.batch === null) throw new Error(`${stand.name} has no batches`);
      const references = Array.from({ length: MESSAGES }, () => randomUUID());
      await withProvider(stand.batch.open(), async (provider) => {
        await run({ stand, references, make: makerOf(stand, provider, references), notes });
      });
    },
  };
}

function makerOf(stand: Stand, provider: Provider, references: readonly string[]): () => PreparedBatch {
  const key = randomUUID();
  const callOf = (reference: string): PreparedCall => {
    const prepared = provider.prepare(stand.outgoing(reference), provider.shape);
    if (!prepared.ok) throw new Error(`prepare refused: ${prepared.rule}`);
    return prepared.call;
  };
  return () => {
    const batch = provider.prepareBatch?.(references.map(callOf), key);
    if (batch === undefined) throw new Error(`${stand.name} makes no batches`);
    return batch;
  };
}

/** One call: one request on the wire, and one outcome for each message. */
async function send({ stand, references, make, notes }: Batch, timeoutMs: number): Promise<readonly CallOutcome[]> {
  const [batch, same] = [make(), make()];
  notes.check(batch.hash.length === 32 && batch.hash.equals(same.hash), 'made twice, hashes differ');
  const before = await stand.wire();
  const outcomes = await bounded(batch.send(timeoutMs));
  const onWire = (await stand.wire()) - before;
  notes.check(onWire === 1, `${onWire} requests on the wire for one batch`);
  notes.check(outcomes.length === references.length, `${outcomes.length} outcomes for ${references.length} messages`);
  for (const outcome of outcomes) notes.checkWords(outcome, outcome.kind);
  return outcomes;
}

/** What the sink counted under each reference, with what must hold for all of them. */
async function effectsOf({ stand, references, notes }: Batch): Promise<readonly number[]> {
  const seen = await Promise.all(references.map(async (reference) => await stand.seen(reference)));
  for (const each of seen) checkSeen(stand, each, notes);
  return seen.map(({ effects }) => effects);
}

function expectKinds(outcomes: readonly CallOutcome[], kinds: readonly string[], when: string, notes: Notes): void {
  const said = outcomes.map(({ kind }) => kind).join(', ');
  notes.check(said === kinds.join(', '), `${when}: ${said}, not ${kinds.join(', ')}`);
}

function expectEffects(effects: readonly number[], right: readonly number[], when: string, notes: Notes): void {
  notes.check(effects.join() === right.join(), `${when}: effects ${effects.join()}, not ${right.join()}`);
}

async function checkEffectIds({ stand, references, notes }: Batch, outcomes: readonly CallOutcome[]): Promise<void> {
  for (const [index, reference] of references.entries()) {
    const outcome = outcomes[index];
    if (outcome?.kind === 'accepted') checkEffectId(outcome.effectId, await stand.seen(reference), notes);
  }
}

/** The same batch under the same key says the same again, and does nothing. */
async function again(batch: Batch, kinds: readonly string[], effects: readonly number[]): Promise<void> {
  const outcomes = await send(batch, PATIENT_MS);
  expectKinds(outcomes, kinds, 'sent again', batch.notes);
  expectEffects(await effectsOf(batch), effects, 'sent again', batch.notes);
  await checkEffectIds(batch, outcomes);
  batch.notes.walked(outcomes[0]?.kind ?? 'none');
}

const ALL = <T>(value: T): readonly T[] => Array.from({ length: MESSAGES }, () => value);

const SENT = scenario(
  'sent',
  () => true,
  async (batch) => {
    const outcomes = await send(batch, PATIENT_MS);
    batch.notes.outcome = outcomes[0]?.kind ?? null;
    expectKinds(outcomes, ALL('accepted'), 'sent', batch.notes);
    expectEffects(await effectsOf(batch), ALL(1), 'sent', batch.notes);
    await checkEffectIds(batch, outcomes);
    if (batch.stand.key === 'replay') await again(batch, ALL('accepted'), ALL(1));
  },
);

const ONE_REFUSED = scenario(
  'one refused',
  () => true,
  async (batch) => {
    const { stand, references, notes } = batch;
    await stand.batch?.refuse(references[1] ?? '');
    const outcomes = await send(batch, PATIENT_MS);
    notes.outcome = outcomes[1]?.kind ?? null;
    expectKinds(outcomes, ['accepted', 'rejected', 'accepted'], 'sent', notes);
    expectEffects(await effectsOf(batch), [1, 0, 1], 'sent', notes);
    await checkEffectIds(batch, outcomes);
    if (stand.key === 'replay') await again(batch, ['accepted', 'rejected', 'accepted'], [1, 0, 1]);
  },
);

/** What a fault means for each message: the same as alone, but that a refusal of the request is none of a message. */
function outcomesOf(fault: Fault, stand: Stand): readonly OutcomeKind[] {
  const right = fault.otherwise[stand.name] ?? fault.outcomes;
  return right.map((kind) => (kind === 'rejected' || kind === 'suppressed' ? 'not-sent' : kind));
}

function faulty(fault: Fault): Scenario {
  return scenario(
    fault.name,
    (stand) => stand.suffers(fault),
    async (batch) => {
      const { stand, notes } = batch;
      await stand.arm(fault);
      const outcomes = await send(batch, fault.endedBy === 'server' ? PATIENT_MS : IMPATIENT_MS);
      const kind = outcomes[0]?.kind ?? null;
      notes.outcome = kind;
      expectKinds(outcomes, ALL(kind ?? 'none'), 'sent', notes);
      const right = outcomesOf(fault, stand);
      notes.check(kind !== null && right.includes(kind), `${kind}, not ${right.join(' or ')}`);
      expectEffects(await effectsOf(batch), ALL(fault.effects), 'sent', notes);
      if (kind === 'ambiguous') await goOn(batch, fault.endedBy === 'silence');
    },
  );
}

/** After an ambiguous batch, what the abilities allow: never a second effect for any of them. */
async function goOn(batch: Batch, held: boolean): Promise<void> {
  const { stand, references } = batch;
  await stand.disarm();
  if (held) {
    await stand.release();
    await eventually('what stalls to be worked off', PATIENT_MS, async () => {
      const seen = await Promise.all(references.map(async (reference) => await stand.seen(reference)));
      return (await stand.stalled()) === 0 && seen.every(({ effects }) => effects >= 1);
    });
  }
  if (stand.key === 'replay') await again(batch, ALL('accepted'), ALL(1));
}

/** Several messages in one request, for the kinds that can. */
export const BATCH_SCENARIOS: readonly Scenario[] = [SENT, ONE_REFUSED, ...FAULTS.map(faulty)];
