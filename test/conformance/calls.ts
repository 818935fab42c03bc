import type {
  CallOutcome,
  LookupOutcome,
  Outgoing,
  PreparedCall,
  Provider,
} from '../../src/providers/provider.port.ts';
import { eventually } from '../support/eventually.ts';
import { PATIENT_MS, type Notes } from './notes.ts';
import { recipientOf, subjectOf } from './outgoing.ts';
import type { Seen, Stand } from './stand.ts';

/** Lets a case use a provider of its own, and closes it whatever happens. */
export async function withProvider<T>(provider: Provider, use: (provider: Provider) => Promise<T>): Promise<T> {
  try {
    return await use(provider);
  } finally {
    await bounded(provider.close());
  }
}

/** Prepares twice, as a second worker would at a later attempt: the bytes must be the same. */
export function prepare(provider: Provider, outgoing: Outgoing, notes: Notes): PreparedCall {
  const [first, second] = [provider.prepare(outgoing, provider.shape), provider.prepare(outgoing, provider.shape)];
  if (!first.ok) throw new Error(`prepare refused: ${first.rule}`);
  notes.check(first.call.hash.length === 32, 'the hash has no 32 bytes');
  notes.check(second.ok && second.call.hash.equals(first.call.hash), 'prepared twice, hashes differ');
  return second.ok ? { hash: first.call.hash, send: pick(first.call, second.call) } : first.call;
}

/** Odd calls by the first, even ones by the second preparation, so that the sink compares the bytes of both. */
function pick(first: PreparedCall, second: PreparedCall): PreparedCall['send'] {
  let calls = 0;
  return async (timeoutMs) => await (calls++ % 2 === 0 ? first : second).send(timeoutMs);
}

/** For what must end by itself: a judge that hangs judges nothing. @throws Error when it has not in a minute */
export async function bounded<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(reject, 60_000, new Error('it did not end in a minute'));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One call, with what must hold for each: one request on the wire, and words that can be shown. */
export async function callOnce(
  stand: Stand,
  call: PreparedCall,
  timeoutMs: number,
  notes: Notes,
): Promise<CallOutcome> {
  const before = await stand.wire();
  const outcome = await bounded(call.send(timeoutMs));
  const onWire = (await stand.wire()) - before;
  notes.check(onWire === 1, `${onWire} requests on the wire for one call`);
  notes.checkWords(outcome, outcome.kind);
  return outcome;
}

/** What must hold of all requests under a reference, however many there were. */
export function checkSeen(stand: Stand, seen: Seen, notes: Notes): void {
  notes.counted(seen.effects);
  notes.check(seen.effects <= 1, `${seen.effects} effects`);
  notes.check(seen.hashes.length <= 1, `${seen.hashes.length} different bodies`);
  const keyed = stand.key === 'none' ? 0 : seen.requests;
  notes.check(seen.keyed === keyed, `${seen.keyed} of ${seen.requests} requests with a key`);
}

function bare(id: string): string {
  return id.replaceAll(/[<>]/g, '');
}

/** The id that was told must be the one that the vendor gave. */
export function checkEffectId(told: string | null, seen: Seen, notes: Notes): void {
  if (seen.effectId === null) return;
  notes.check(
    told !== null && bare(told).startsWith(bare(seen.effectId)),
    `effect id ${told ?? 'is missing'}, and the vendor's is ${seen.effectId}`,
  );
}

export async function look(
  stand: Stand,
  provider: Provider,
  reference: string,
  since: Date,
  timeoutMs = PATIENT_MS,
): Promise<LookupOutcome> {
  if (provider.lookup === undefined) throw new Error(`${stand.name} has no lookup`);
  const { kind } = stand.outgoing(reference);
  const mail = kind === 'email' ? { recipient: recipientOf(reference), subject: subjectOf() } : null;
  const query = { reference, recipient: mail?.recipient ?? null, subject: mail?.subject ?? null, since };
  return await bounded(provider.lookup(query, timeoutMs));
}

/** Lets what stalls go on, and waits until the server has worked it off. */
export async function releaseAll(stand: Stand, reference: string, effects: number): Promise<void> {
  await stand.release();
  await eventually(`${stand.name} to work off what stalled`, PATIENT_MS, async () => {
    return (await stand.stalled()) === 0 && (await stand.seen(reference)).effects >= effects;
  });
}
