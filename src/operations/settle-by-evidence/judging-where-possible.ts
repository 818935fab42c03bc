import { classifyDatabaseError } from '../../database/postgres-errors.ts';
import { errorCode } from '../../runtime/service-error.ts';

/**
 * Runs a page of work that also judges evidence. Where that fails, it runs once more without: whatever one operation is about,
 * all others must not wait for it. A database that is away, or contention, fails as it is.
 *
 * @param onUnjudged told the code of what failed
 */
export async function judgingWherePossible<T>(
  run: (judge: boolean) => Promise<T>,
  onUnjudged: (code: string) => void,
): Promise<T> {
  try {
    return await run(true);
  } catch (error) {
    const failure = classifyDatabaseError(error);
    if (failure === 'away' || failure === 'contention') throw error;
    onUnjudged(errorCode(error));
    return await run(false);
  }
}
