import { loadStatement, type Executor } from '../database/statement.ts';
import type { OperationState } from '../operations/operation.states.ts';
import type { StateCounts } from './campaign-events.ts';

const count = loadStatement<{ tenant: string; campaign: string }, { state: OperationState; operations: number }>(
  import.meta.url,
  'count-operations.sql',
);

/** The campaign's operations by state; their sum is the audience once it is materialised. */
export async function countOperations(executor: Executor, tenant: string, campaign: string): Promise<StateCounts> {
  const rows = await count.run(executor, { tenant, campaign });
  return Object.fromEntries(rows.map((row) => [row.state, row.operations]));
}
