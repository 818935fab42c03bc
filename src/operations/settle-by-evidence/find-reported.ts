import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OperationId } from './settle-by-evidence.ts';

const find = loadStatement<{ tenants: string[]; operation_ids: string[] }, OperationId>(
  import.meta.url,
  'find-reported.sql',
);

/** Those of which receipts have come already, before the call was recorded. */
export async function findReported(tx: Transaction, operations: readonly OperationId[]): Promise<OperationId[]> {
  if (operations.length === 0) return [];
  return await find.run(tx, {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  });
}
