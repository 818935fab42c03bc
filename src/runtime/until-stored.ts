import type { Logger } from '../observability/logger.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { errorCode } from './service-error.ts';

const BACKOFF = { baseMs: 50, capMs: 5_000 };

/**
 * Repeats a write until it succeeds, for results that must not be lost while the process lives. The write must be safe to
 * repeat. It has no limit of its own: the fence in the statement says when the result comes too late.
 */
export async function untilStored<T>(write: () => Promise<T>, logger: Logger, event: string): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await write();
    } catch (error) {
      logger.error(event, { code: errorCode(error), failures });
      await wait(backoffMs(failures, BACKOFF));
    }
  }
}
