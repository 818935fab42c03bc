/** setTimeout takes a signed 32-bit number of milliseconds and fires at once above it. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface BackoffOptions {
  /** Upper end of the wait after the first failure, in ms. */
  readonly baseMs: number;
  /** Upper end of every wait, in ms. */
  readonly capMs: number;
  /** Uniform in [0, 1); injected so that tests and replays choose it. */
  readonly jitter?: () => number;
}

/**
 * Wait in whole ms before the next try after `failures` failures in a row: equal jitter, half of the exponential bound
 * fixed and half random, so that a wait is never near zero and replicas do not move in step. No failure: 0.
 */
export function backoffMs(failures: number, { baseMs, capMs, jitter = Math.random }: BackoffOptions): number {
  if (!(failures >= 1)) return 0;
  const cap = clamp(capMs, 0, LONGEST_TIMER_MS);
  // 2 ** 31 times the smallest useful base is above every cap; a larger exponent would only reach Infinity.
  const bound = Math.min(cap, clamp(baseMs, 0, LONGEST_TIMER_MS) * 2 ** Math.min(Math.floor(failures) - 1, 31));
  return Math.floor(bound / 2 + (bound / 2) * clamp(jitter(), 0, 1));
}

function clamp(value: number, low: number, high: number): number {
  return value >= low ? Math.min(value, high) : low;
}
