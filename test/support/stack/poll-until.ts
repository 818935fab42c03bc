import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks `probe` again and again until it answers something other than null. At most `deadlineMs` milliseconds, measured by
 * the monotonic clock; null when they are over. `probe` decides itself what a failure is: what it throws ends the polling.
 */
export async function pollUntil<T>(
  probe: () => Promise<T | null> | T | null,
  options: { deadlineMs: number; everyMs?: number },
): Promise<T | null> {
  const end = performance.now() + options.deadlineMs;
  for (;;) {
    const answer = await probe();
    if (answer !== null) return answer;
    if (performance.now() >= end) return null;
    await delay(options.everyMs ?? 25);
  }
}
