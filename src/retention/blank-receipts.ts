import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';

interface OperationId {
  readonly tenant_id: string;
  readonly operation_id: string;
}

const blank = loadStatement<{ tenants: string[]; operation_ids: string[] }, never>(
  import.meta.url,
  'blank-receipts.sql',
);

/**
 * Empties the receipts of those of these operations that have been scrubbed. A statement of its own after the operations were
 * locked: one that is being scrubbed meanwhile is then seen as such.
 */
export async function blankReceipts(tx: Transaction, operations: readonly OperationId[]): Promise<void> {
  if (operations.length === 0) return;
  await blank.run(tx, {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  });
}
