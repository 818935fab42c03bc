import { loadStatement, type Executor } from '../../database/statement.ts';
import { operationId } from '../operation-id.ts';
import type { OperationState } from '../operation.states.ts';
import type { FrozenStep } from '../steps/frozen-steps.ts';
import { listCheckpoints, type ShownCheckpoint } from '../steps/list-checkpoints.ts';
import { readHistories, type OperationHistory } from './read-histories.ts';

export interface OperationRow {
  readonly operation_id: string;
  readonly operation_key: string;
  readonly kind: 'email' | 'http' | 'steps' | null;
  readonly class: 'marketing' | 'transactional' | null;
  readonly campaign_id: string | null;
  readonly state: OperationState;
  readonly state_reason: string | null;
  readonly payload_hash: Buffer | null;
  readonly provider: string | null;
  readonly effect_id: string | null;
  readonly not_before: Date;
  readonly deadline: Date | null;
  readonly created_at: Date;
  readonly changed_at: Date;
  readonly on_unknown: 'hold' | 'resend' | 'assume-sent';
  readonly unknown_since: Date | null;
  readonly resolved_by: string | null;
  readonly doubled: boolean;
  readonly claim_seq: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly throttles: number;
  readonly crashes: number;
  readonly redriven: number;
  /** The one that is to be done now, from 0; 0 of a single effect. */
  readonly step: number;
  readonly scrubbed_at: Date | null;
  readonly approval_object: string | null;
  readonly approval_revision: string | null;
  /** What must have been approved, when there is something to approve. */
  readonly approval_hash: Buffer | null;
  readonly approval_granted: boolean;
  /** Null of a single effect, and when the request was removed. */
  readonly steps: readonly FrozenStep[] | null;
  /** The database's time. */
  readonly now: Date;
}

export interface ReceiptRow {
  readonly provider: string;
  readonly receipt_id: string;
  readonly type: string;
  readonly occurred_at: Date;
  readonly effect_id: string | null;
}

/** An operation with its evidence: calls, steps to find out, and receipts (the oldest 200). */
export interface OperationWithEvidence extends OperationHistory {
  readonly operation: OperationRow;
  readonly receipts: readonly ReceiptRow[];
  readonly checkpoints: readonly ShownCheckpoint[];
}

type OperationId = { tenant: string; operation_id: string };

const read = loadStatement<OperationId & { operation_key: string }, OperationRow>(
  import.meta.url,
  'read-operation.sql',
);
const findKeyOf = loadStatement<OperationId, { operation_key: string }>(import.meta.url, 'find-key.sql');
const readReceipts = loadStatement<OperationId, ReceiptRow>(import.meta.url, 'read-receipts.sql');

export async function readOperation(
  executor: Executor,
  tenant: string,
  operationKey: string,
): Promise<OperationWithEvidence | null> {
  const id = { tenant, operation_id: operationId(tenant, operationKey) };
  const [operation] = await read.run(executor, { ...id, operation_key: operationKey });
  if (!operation) return null;
  const historyOf = await readHistories(executor, tenant, [id.operation_id]);
  const checkpointsOf = await listCheckpoints(executor, tenant, [id.operation_id]);
  return {
    operation,
    ...historyOf(id.operation_id),
    receipts: await readReceipts.run(executor, id),
    checkpoints: checkpointsOf(id.operation_id),
  };
}

/** The key of an operation by its id; null when there is none of this tenant. */
export async function findKey(executor: Executor, tenant: string, id: string): Promise<string | null> {
  return (await findKeyOf.run(executor, { tenant, operation_id: id }))[0]?.operation_key ?? null;
}
