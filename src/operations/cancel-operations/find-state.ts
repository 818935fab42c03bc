import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { operationId } from '../operation-id.ts';
import type { OperationState } from '../operation.states.ts';

const find = loadStatement<Record<'tenant' | 'operation_key' | 'operation_id', string>, { state: OperationState }>(
  import.meta.url,
  'find-state.sql',
);

/** The state of an operation, locked until the transaction ends; null when nobody has asked for it. */
export async function findState(tx: Transaction, tenant: string, operationKey: string): Promise<OperationState | null> {
  const id = operationId(tenant, operationKey);
  const [row] = await find.run(tx, { tenant, operation_key: operationKey, operation_id: id });
  return row?.state ?? null;
}
