import { loadStatement, type Executor } from '../../database/statement.ts';
import { operationId } from '../operation-id.ts';
import type { OperationState } from '../operation.states.ts';
import { readHistories, type OperationHistory } from './read-histories.ts';

export interface OperationRow {
  readonly operation_id: string;
  readonly operation_key: string;
  readonly kind: 'email' | 'http' | null;
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
}

type OperationId = { tenant: string; operation_id: string };

const read = loadStatement<OperationId & { operation_key: string }, OperationRow>(
  import.meta.url,
  'read-operation.sql',
);
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
  return { operation, ...historyOf(id.operation_id), receipts: await readReceipts.run(executor, id) };
}
