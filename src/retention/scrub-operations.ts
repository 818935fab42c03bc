import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { idsOf, type OperationId } from './find-campaign-operations.ts';

/** How many rows lost what they held. */
export interface Scrubbed {
  readonly operations: number;
  readonly requests: number;
  /** Answers of calls, kept as checkpoints. */
  readonly results: number;
  readonly receipts: number;
}

const scrub = loadStatement<ReturnType<typeof idsOf>, Scrubbed>(import.meta.url, 'scrub-operations.sql');
const NOTHING: Scrubbed = { operations: 0, requests: 0, results: 0, receipts: 0 };

/** Removes request, address, results and contents of receipts of operations that the caller has locked. */
export async function scrubOperations(tx: Transaction, operations: readonly OperationId[]): Promise<Scrubbed> {
  if (operations.length === 0) return NOTHING;
  const [counts] = await scrub.run(tx, idsOf(operations));
  return counts ?? NOTHING;
}
