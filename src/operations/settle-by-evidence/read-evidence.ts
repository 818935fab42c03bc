import { loadStatement, type Executor } from '../../database/statement.ts';
import type { EvidenceStep } from '../operation-events.ts';

interface EvidenceRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly at: Date;
  readonly step: EvidenceStep['step'];
  readonly outcome: string;
  readonly code: string | null;
}

const read = loadStatement<{ tenants: string[]; operation_ids: string[] }, EvidenceRow>(
  import.meta.url,
  'read-evidence.sql',
);

/** What was tried to find out about operations, in order, by `tenant/operationId`. */
export async function readEvidence(
  executor: Executor,
  operations: readonly { readonly tenant_id: string; readonly operation_id: string }[],
): Promise<Map<string, EvidenceStep[]>> {
  const found = new Map<string, EvidenceStep[]>();
  if (operations.length === 0) return found;
  const rows = await read.run(executor, {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  });
  for (const { tenant_id, operation_id, ...step } of rows) {
    const key = `${tenant_id}/${operation_id}`;
    const list = found.get(key) ?? [];
    list.push(step);
    found.set(key, list);
  }
  return found;
}
