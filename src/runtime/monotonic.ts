/** Milliseconds on a clock that never goes back; only differences mean something, and only inside this process. */
export function monotonicNow(): number {
  return performance.now();
}

/** A local deadline that a change of the machine's clock cannot move. */
export interface Deadline {
  /** Milliseconds left, never below 0. */
  remainingMs(): number;
  expired(): boolean;
  /** true when something that takes at most `ms` ends before the deadline. */
  leavesRoomFor(ms: number): boolean;
}

/**
 * Deadline `ms` after `startedAt`. For a lease pass the time taken *before* the claim was asked for: the database counts from
 * a later moment, so the local deadline is the earlier of the two.
 */
export function deadlineIn(ms: number, startedAt: number = monotonicNow(), now: () => number = monotonicNow): Deadline {
  const end = startedAt + ms;
  const remainingMs = (): number => Math.max(0, end - now());
  return { remainingMs, expired: () => remainingMs() === 0, leavesRoomFor: (needed) => remainingMs() >= needed };
}
