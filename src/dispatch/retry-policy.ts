import type { CallOutcome } from '../providers/provider.port.ts';
import { backoffMs, type BackoffOptions } from '../runtime/backoff.ts';

/** What a result means for its operation. */
export interface Settlement {
  readonly state: 'accepted' | 'rejected' | 'suppressed' | 'unknown' | 'queued' | 'dead';
  readonly reason: string | null;
  /** When `queued`: how long to wait, in ms. */
  readonly delayMs: number;
  /** Whether the attempt is one of those that `maxAttempts` allows. Waiting for others is not the operation's fault. */
  readonly counts: boolean;
}

/** What an operation may still fail by, per class. An account that is refused costs it nothing. */
export interface Budgets {
  readonly maxAttempts: number;
  /** How often the provider has asked to wait before. */
  readonly throttles: number;
  readonly maxThrottles: number;
}

/** The result of an intent whose call was left out, since the lease would have ended before it. */
export const NOT_CALLED: CallOutcome = {
  kind: 'not-sent',
  code: 'not-called',
  diagnostic: 'the lease left no time for the call',
};

/** 1 s to 5 min: a provider that is down for minutes costs few tries, one that is back is noticed soon. */
export const DEFAULT_RETRY_BACKOFF: BackoffOptions = { baseMs: 1_000, capMs: 300_000 };

/**
 * The failure classes of DESIGN section 6. Pure but for the jitter of the delay.
 *
 * @param attempt the number of this attempt, 1 for the first
 */
export function settle(
  result: CallOutcome,
  attempt: number,
  { maxAttempts, throttles, maxThrottles }: Budgets,
  backoff: BackoffOptions = DEFAULT_RETRY_BACKOFF,
): Settlement {
  const said = `${result.code}: ${result.diagnostic}`;
  switch (result.kind) {
    case 'accepted':
      return { state: 'accepted', reason: null, delayMs: 0, counts: true };
    case 'rejected':
      return { state: 'rejected', reason: `${result.what} refused, ${said}`, delayMs: 0, counts: true };
    case 'suppressed':
      return { state: 'suppressed', reason: `on the provider's own list, ${said}`, delayMs: 0, counts: true };
    // What the provider knows of the key is about an earlier call: one that we have no answer of.
    case 'duplicate':
    case 'concurrent':
    case 'key-mismatch':
    case 'ambiguous':
      return { state: 'unknown', reason: `the provider may have taken it, ${said}`, delayMs: 0, counts: true };
    case 'throttled':
      if (throttles + 1 >= maxThrottles) {
        const reason = `the provider asked to wait ${maxThrottles} times, the last: ${said}`;
        return { state: 'dead', reason, delayMs: 0, counts: false };
      }
      return {
        state: 'queued',
        reason: `throttled, ${said}`,
        delayMs: result.retryAfterMs ?? backoffMs(throttles + 1, backoff),
        counts: false,
      };
    case 'account':
      return {
        state: 'queued',
        reason: `the provider's account, ${said}`,
        delayMs: backoffMs(attempt, backoff),
        counts: false,
      };
    case 'not-sent':
      if (result === NOT_CALLED) return { state: 'queued', reason: said, delayMs: 0, counts: false };
      return attempt >= maxAttempts
        ? { state: 'dead', reason: `all ${maxAttempts} attempts failed, the last: ${said}`, delayMs: 0, counts: true }
        : { state: 'queued', reason: `not sent, ${said}`, delayMs: backoffMs(attempt, backoff), counts: true };
  }
}
