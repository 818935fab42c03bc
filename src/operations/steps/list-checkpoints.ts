import { loadStatement, type Executor } from '../../database/statement.ts';

/** What one step, or a single effect, has answered; as it is shown. */
export interface ShownCheckpoint {
  readonly operation_id: string;
  readonly step: number;
  /** Null of a single effect. */
  readonly name: string | null;
  readonly version: number | null;
  readonly input_hash: Buffer | null;
  /** Null also when it is not known, or was removed. */
  readonly result: unknown;
  readonly effect_id: string | null;
  readonly accepted_at: Date;
}

const list = loadStatement<{ tenants: string[]; operation_ids: string[] }, ShownCheckpoint>(
  import.meta.url,
  'list-checkpoints.sql',
);

/** What operations of one tenant have answered so far, in the order of their steps. */
export async function listCheckpoints(
  executor: Executor,
  tenant: string,
  operationIds: readonly string[],
): Promise<(operationId: string) => readonly ShownCheckpoint[]> {
  if (operationIds.length === 0) return () => [];
  const ids = [...new Set(operationIds)];
  const rows = await list.run(executor, { tenants: ids.map(() => tenant), operation_ids: ids });
  const byOperation = Map.groupBy(rows, (row) => row.operation_id);
  return (operationId) => byOperation.get(operationId) ?? [];
}
