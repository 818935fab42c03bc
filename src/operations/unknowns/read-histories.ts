import { loadStatement, type Executor } from '../../database/statement.ts';
import type { EvidenceStep } from '../operation-events.ts';

/** One try, as people are shown it. */
export interface TryRow {
  readonly operation_id: string;
  readonly claim_seq: string;
  readonly purpose: 'deliver' | 'replay';
  readonly provider: string;
  /** Fingerprint of endpoint and credential; not shown. */
  readonly account: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly outcome: string | null;
  readonly code: string | null;
  readonly diagnostic: string | null;
  readonly effect_id: string | null;
}

/** One step of finding out. */
export interface StepRow {
  readonly operation_id: string;
  readonly at: Date;
  readonly step: EvidenceStep['step'];
  readonly outcome: string;
  readonly code: string | null;
  readonly diagnostic: string | null;
  readonly decided_by: string | null;
}

export interface OperationHistory {
  readonly tries: readonly TryRow[];
  readonly steps: readonly StepRow[];
}

type Ids = { tenants: string[]; operation_ids: string[] };

const readTries = loadStatement<Ids, TryRow>(import.meta.url, 'read-tries.sql');
const readSteps = loadStatement<Ids, StepRow>(import.meta.url, 'read-steps.sql');

/** All that was tried, in order, of one tenant's operations: first the calls, then the steps to find out. */
export async function readHistories(
  executor: Executor,
  tenant: string,
  operationIds: readonly string[],
): Promise<(operationId: string) => OperationHistory> {
  if (operationIds.length === 0) return () => ({ tries: [], steps: [] });
  const ids = { tenants: operationIds.map(() => tenant), operation_ids: [...operationIds] };
  const tries = Map.groupBy(await readTries.run(executor, ids), (row) => row.operation_id);
  const steps = Map.groupBy(await readSteps.run(executor, ids), (row) => row.operation_id);
  return (operationId) => ({ tries: tries.get(operationId) ?? [], steps: steps.get(operationId) ?? [] });
}
