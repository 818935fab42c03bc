import type { CallOutcome, LookupOutcome } from './provider.port.ts';
import { type Answer, retryAfterMs } from './wire/answer.ts';

type Unsaid<T> = T extends unknown ? Omit<T, 'code' | 'diagnostic'> : never;

/** What an adapter reads in an answer. */
export type Verdict = Unsaid<CallOutcome> & {
  /** The provider's words; scrubbed before anybody sees them. */
  readonly words?: string;
};

/** What an adapter reads in the answer to a look-up; undefined: the answer says nothing. */
export type Found = { readonly kind: 'hit'; readonly effectId: string | null; readonly state: EffectState } | 'miss';
export type EffectState = Extract<LookupOutcome, { kind: 'hit' }>['state'];

export const NOT_DOCUMENTED = "the answer is not one of the provider's documented ones";

export const rejectedMessage: Verdict = { kind: 'rejected', what: 'message' };
export const rejectedRecipient: Verdict = { kind: 'rejected', what: 'recipient' };
export const ambiguous: Verdict = { kind: 'ambiguous' };
export const account: Verdict = { kind: 'account' };
export const suppressed: Verdict = { kind: 'suppressed' };

export function throttled(answer: Answer): Verdict {
  return { kind: 'throttled', retryAfterMs: retryAfterMs(answer) };
}

export function acceptedAs(effectId: string | null): Verdict {
  return effectId === null ? { kind: 'ambiguous', words: NOT_DOCUMENTED } : { kind: 'accepted', effectId };
}

/**
 * What an answer to a whole batch means for each of its messages, where it speaks of none of them: a request that was refused
 * had no effect, but which message was at fault, if any, is not said, so none of them is refused for good.
 */
export function verdictOfAll(verdict: Verdict, messages: number): readonly Verdict[] {
  const isRefusal = verdict.kind === 'rejected' || verdict.kind === 'suppressed';
  const { words } = verdict;
  const each: Verdict = isRefusal ? { kind: 'not-sent', ...(words === undefined ? {} : { words }) } : verdict;
  return Array.from({ length: messages }, () => each);
}

/**
 * What a status means where a provider says nothing of its own. Only refusals by 4xx are certain: 5xx answers have been seen
 * for mails that went out (Mailgun). A redirect is not followed, so the endpoint is configured wrongly.
 */
export function verdictByStatus(answer: Answer): Verdict {
  const { status } = answer;
  if (status < 300 || status >= 500) return ambiguous;
  if (status < 400) return account;
  switch (status) {
    // Wrong endpoint or method, too: no mail of this account would fare better.
    case 401:
    case 402:
    case 403:
    case 404:
    case 405:
    case 407:
      return account;
    // The request may have been read; what became of it is not said.
    case 408:
    case 409:
      return ambiguous;
    case 429:
      return throttled(answer);
    default:
      return rejectedMessage;
  }
}

/**
 * The rows of a look-up by reference that are ours. undefined: none shows our reference and some show none at all, so that the
 * answer is evidence neither for us nor against.
 *
 * @param isOurs null: the row does not show whose it is
 */
export function ownRows(
  rows: readonly unknown[],
  isOurs: (row: unknown) => boolean | null,
): readonly unknown[] | undefined {
  const judged = rows.map((row) => isOurs(row));
  const own = rows.filter((_, index) => judged[index] === true);
  return own.length === 0 && judged.includes(null) ? undefined : own;
}

/** From weakest to strongest: what the provider says last of a mail that went through several of them. */
const BY_STRENGTH: readonly EffectState[] = ['accepted', 'delivered', 'rejected', 'bounced', 'complained'];

/** @returns null for an empty list */
export function strongestState(states: readonly EffectState[]): EffectState | null {
  return BY_STRENGTH.findLast((state) => states.includes(state)) ?? null;
}
