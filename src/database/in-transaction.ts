import type { DataSource, EntityManager } from 'typeorm';
import { reach } from '../runtime/signal.ts';
import { connectOrAway } from './postgres-errors.ts';

declare const transactionBrand: unique symbol;

/** An open transaction. Functions that write take it as an argument; only `inTransaction` makes one. */
export type Transaction = EntityManager & { readonly [transactionBrand]: true };

/**
 * Runs `work` in one READ COMMITTED transaction: committed when it resolves, rolled back when it throws.
 * An error of the commit itself means that the result is not known to us; callers repeat work that is idempotent.
 *
 * @param name names the transaction at the points where tests inject faults
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  name: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await connectOrAway(runner);
    await runner.startTransaction();
    const result = await work(runner.manager as Transaction);
    await reach(`${name}.before-commit`);
    await runner.commitTransaction();
    await reach(`${name}.after-commit`);
    return result;
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}
