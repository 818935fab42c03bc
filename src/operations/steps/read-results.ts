import { loadStatement, type Executor } from '../../database/statement.ts';
import type { StepResults } from './frozen-steps.ts';

interface CheckpointRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly step: number;
  readonly name: string | null;
  readonly result: unknown;
  readonly effect_id: string | null;
}

type Id = Pick<CheckpointRow, 'tenant_id' | 'operation_id'>;

const read = loadStatement<{ tenants: string[]; operation_ids: string[] }, CheckpointRow>(
  import.meta.url,
  'read-checkpoints.sql',
);

/** What the steps of these operations have answered, by `tenant/operationId`. */
export async function readResultsOf(executor: Executor, operations: readonly Id[]): Promise<Map<string, StepResults>> {
  const rows = await read.run(executor, {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  });
  const found = new Map<string, Record<string, StepResults[string]>>();
  for (const { tenant_id, operation_id, name, result, effect_id: effectId } of rows) {
    const key = `${tenant_id}/${operation_id}`;
    const results = found.get(key) ?? {};
    // Known to be done, and not what it answered: a template that asks for the answer must fail.
    if (name !== null) results[name] = result === null ? { effectId } : { result, effectId };
    found.set(key, results);
  }
  return found;
}

export async function readResults(executor: Executor, operation: Id): Promise<StepResults> {
  const found = await readResultsOf(executor, [operation]);
  return found.get(`${operation.tenant_id}/${operation.operation_id}`) ?? {};
}
