import { classifyDatabaseError } from '../database/postgres-errors.ts';

/** Contention is over after a moment; who still loses after this many tries leaves it to the end of the lease. */
const TRIES = 5;

/** Repeats what lost against another transaction, and therefore changed nothing. */
export async function pastContention<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (tried >= TRIES || classifyDatabaseError(error) !== 'contention') throw error;
    }
  }
}
