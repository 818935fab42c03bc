import type { Abilities } from '../../providers/abilities.ts';

/** A try, as the planner looks at it. */
export interface PastAttempt {
  readonly startedAt: Date;
  readonly purpose: 'deliver' | 'replay';
  /** null or `lost`: nobody knows. */
  readonly outcome: string | null;
  readonly account: string | null;
}

/** What was tried since then to find out. */
export interface PastStep {
  readonly at: Date;
  readonly step: 'replay' | 'lookup' | 'receipt' | 'late-result' | 'person' | 'policy';
  readonly outcome: string;
  /** Of a person's `wait`: until when, RFC 3339. */
  readonly code: string | null;
}

export interface UnknownHistory {
  /** The database's time. */
  readonly now: Date;
  readonly unknownSince: Date;
  readonly attempts: readonly PastAttempt[];
  readonly steps: readonly PastStep[];
  readonly onUnknown: 'hold' | 'resend' | 'assume-sent';
}

/** What one call of this provider may take, and with whose credentials it is made now. */
export interface PlannedProvider {
  readonly abilities: Abilities;
  readonly account: string;
  readonly callTimeoutMs: number;
}

export type ResolutionStep =
  /** The same bytes under the same key: the provider repeats its answer, and no effect. */
  | { readonly do: 'replay' }
  /** Ask the provider; `last`: with a canary, since afterwards a miss may mean something. */
  | { readonly do: 'lookup'; readonly last: boolean }
  | { readonly do: 'wait'; readonly until: Date }
  /** Nothing more is expected: a person decides. */
  | { readonly do: 'hold'; readonly reason: string }
  | { readonly do: 'resend'; readonly reason: string }
  | { readonly do: 'assume-sent'; readonly reason: string };

/** At the smallest age, at twice that and at four times that. */
const LOOKUPS = 3;
const REPLAY_BACKOFF = { baseMs: 1_000, capMs: 5 * 60_000 };
const LOOKUP_RETRY_MS = 60_000;

/** Answers that say of an earlier call what no repetition can change. */
const ENDS_REPLAYS: ReadonlySet<string> = new Set([
  'duplicate',
  'key-mismatch',
  'rejected',
  // Said by our own last look: the replay might be the first call that arrives.
  'definition-changed',
  'expired',
  'not-approved',
  'suppressed',
]);
const MAY_HAVE_EFFECT: ReadonlySet<string> = new Set(['ambiguous', 'lost', 'duplicate', 'concurrent', 'key-mismatch']);

/**
 * The next step for an unknown outcome (DESIGN section 6, step 6), from what the provider can do, what was tried, and the
 * database's time. Pure. Evidence that is cheap and certain comes first: the key, then asking, then waiting for a receipt; when
 * all of it is used up, the operation's own policy.
 */
export function planResolution(provider: PlannedProvider, history: UnknownHistory): ResolutionStep {
  const open = history.attempts.filter(({ outcome }) => outcome === null || MAY_HAVE_EFFECT.has(outcome));
  const times = [
    nextReplay(provider, history, open),
    nextLookup(provider, history, open),
    receiptsUntil(provider, history),
    personWaitsUntil(history),
  ];
  const [replayAt, lookupAt] = times;
  if (isDue(replayAt, history.now)) return { do: 'replay' };
  if (isDue(lookupAt, history.now)) return { do: 'lookup', last: lookupsDone(history) === LOOKUPS - 1 };
  if (mayResendNow(provider, history)) {
    return { do: 'resend', reason: 'policy resend: three lookups missed it, and a later one was visible' };
  }
  const until = times.filter((time): time is Date => time !== null && time > history.now);
  if (until.length > 0) return { do: 'wait', until: earliest(until) };
  return atTheEnd(history);
}

/** When to use the key again; null: never. */
function nextReplay(
  { abilities: { key }, account, callTimeoutMs }: PlannedProvider,
  { now, steps }: UnknownHistory,
  open: readonly PastAttempt[],
): Date | null {
  const [first] = open;
  if (key.kind === 'none' || !first) return null;
  // Another endpoint or credential does not know the key.
  if (open.some((attempt) => attempt.account !== account)) return null;
  const replays = steps.filter(({ step }) => step === 'replay');
  if (replays.some(({ outcome }) => ENDS_REPLAYS.has(outcome))) return null;
  const last = replays.at(-1);
  const next = last ? plus(last.at, replayDelay(replays.length)) : now;
  // Counted from before the first byte of the first try, and to the end of this one.
  const closesAt = plus(first.startedAt, key.windowMs - key.marginMs - callTimeoutMs);
  return (next > now ? next : now) < closesAt ? next : null;
}

function replayDelay(replays: number): number {
  return Math.min(REPLAY_BACKOFF.capMs, REPLAY_BACKOFF.baseMs * 2 ** Math.min(replays, 20));
}

function nextLookup(
  { abilities: { lookup } }: PlannedProvider,
  history: UnknownHistory,
  open: readonly PastAttempt[],
): Date | null {
  const done = lookupsDone(history);
  const newest = open.at(-1);
  if (lookup.kind === 'none' || done >= LOOKUPS || !newest) return null;
  const scheduled = plus(newest.startedAt, lookup.minAgeMs * 2 ** done);
  const failed = history.steps.findLast(({ step }) => step === 'lookup');
  if (failed?.outcome !== 'failed') return scheduled;
  const again = plus(failed.at, LOOKUP_RETRY_MS);
  return again > scheduled ? again : scheduled;
}

function lookupsDone({ steps }: UnknownHistory): number {
  return steps.filter(({ step, outcome }) => step === 'lookup' && outcome !== 'failed').length;
}

function receiptsUntil({ abilities: { receipt } }: PlannedProvider, history: UnknownHistory): Date | null {
  return receipt.kind === 'none' ? null : plus(history.unknownSince, receipt.waitMs);
}

function personWaitsUntil({ steps }: UnknownHistory): Date | null {
  const wait = steps.findLast(({ step }) => step === 'person');
  return wait?.outcome === 'wait' && wait.code !== null ? new Date(wait.code) : null;
}

/** A miss is no proof. It may only let a policy act earlier that would act anyway. */
function mayResendNow({ abilities: { lookup } }: PlannedProvider, history: UnknownHistory): boolean {
  if (history.onUnknown !== 'resend' || lookup.kind === 'none' || lookup.miss !== 'resend') return false;
  if (isLater(personWaitsUntil(history), history.now)) return false;
  const lookups = history.steps.filter(({ step, outcome }) => step === 'lookup' && outcome !== 'failed');
  return lookups.length >= LOOKUPS && lookups.at(-1)?.outcome === 'miss-with-canary';
}

function atTheEnd({ onUnknown, steps }: UnknownHistory): ResolutionStep {
  // Whoever asked to wait longer decides when that is over.
  if (steps.some(({ step }) => step === 'person')) return { do: 'hold', reason: 'a person waited for evidence' };
  switch (onUnknown) {
    case 'hold':
      return { do: 'hold', reason: 'no more evidence is expected' };
    case 'resend':
      return { do: 'resend', reason: 'policy resend: no more evidence is expected' };
    case 'assume-sent':
      return { do: 'assume-sent', reason: 'policy assume-sent: no more evidence is expected' };
  }
}

function isDue(time: Date | null | undefined, now: Date): boolean {
  return time !== null && time !== undefined && time <= now;
}

function isLater(time: Date | null, now: Date): boolean {
  return time !== null && time > now;
}

function plus(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}

function earliest(times: readonly Date[]): Date {
  return new Date(Math.min(...times.map((time) => time.getTime())));
}
