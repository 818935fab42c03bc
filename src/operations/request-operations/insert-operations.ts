import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OperationState } from '../operation.states.ts';

/** A row of the ledger about to be written. `request` is kept as received and only read whole. */
export interface NewOperation {
  readonly tenantId: string;
  readonly operationId: string;
  readonly operationKey: string;
  readonly kind: 'email' | 'http' | 'steps';
  readonly class: 'marketing' | 'transactional';
  readonly payloadHash: Buffer;
  readonly hashVersion: number;
  readonly state: 'queued' | 'awaiting-approval' | 'rejected';
  readonly stateReason: string | null;
  readonly provider: string;
  readonly priority: number;
  readonly campaign: { readonly campaignId: string; readonly revision: number; readonly subscriberId: string } | null;
  readonly addressKey: string | null;
  readonly lists: readonly string[];
  readonly approval: { readonly object: string; readonly revision: number } | null;
  /** What must have been approved; null: the payload hash. */
  readonly approvalHash: Buffer | null;
  /** What providers know the steps by, in order; empty for a single effect. */
  readonly stepReferences: readonly string[];
  /** RFC 3339; `null` is now, by the database's clock. */
  readonly notBefore: string | null;
  readonly deadline: string | null;
  readonly maxAttempts: number;
  readonly onUnknown: 'hold' | 'resend' | 'assume-sent';
  readonly causationId: string | null;
  readonly traceparent: string | null;
  readonly request: unknown;
}

export interface InsertedOperation {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly state: OperationState;
  readonly state_reason: string | null;
}

const insert = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'keys'
    | 'kinds'
    | 'classes'
    | 'hashes'
    | 'hash_versions'
    | 'states'
    | 'reasons'
    | 'providers'
    | 'priorities'
    | 'campaigns'
    | 'revisions'
    | 'subscribers'
    | 'address_keys'
    | 'lists'
    | 'approval_objects'
    | 'approval_revisions'
    | 'approval_hashes'
    | 'step_references'
    | 'not_befores'
    | 'deadlines'
    | 'max_attempts'
    | 'on_unknowns'
    | 'causations'
    | 'traceparents'
    | 'requests',
    unknown[]
  >,
  InsertedOperation
>(import.meta.url, 'insert-operations.sql');

const withdrawForgotten = loadStatement<
  { tenants: string[]; operation_ids: string[] },
  Pick<InsertedOperation, 'tenant_id' | 'operation_id'>
>(import.meta.url, 'withdraw-forgotten.sql');

/**
 * Inserts operations in one statement and returns those that are new. An operation whose key, or whose recipient within
 * its campaign, is taken is left out of the answer and changes nothing, also one whose key was forgotten with a tombstone.
 */
export async function insertOperations(
  tx: Transaction,
  operations: readonly NewOperation[],
): Promise<InsertedOperation[]> {
  if (operations.length === 0) return [];
  const column = <T>(pick: (operation: NewOperation) => T): T[] => operations.map(pick);
  const inserted = await insert.run(tx, {
    tenants: column((o) => o.tenantId),
    operation_ids: column((o) => o.operationId),
    keys: column((o) => o.operationKey),
    kinds: column((o) => o.kind),
    classes: column((o) => o.class),
    hashes: column((o) => o.payloadHash),
    hash_versions: column((o) => o.hashVersion),
    states: column((o) => o.state),
    reasons: column((o) => o.stateReason),
    providers: column((o) => o.provider),
    priorities: column((o) => o.priority),
    campaigns: column((o) => o.campaign?.campaignId ?? null),
    revisions: column((o) => o.campaign?.revision ?? null),
    subscribers: column((o) => o.campaign?.subscriberId ?? null),
    address_keys: column((o) => o.addressKey),
    lists: column((o) => JSON.stringify(o.lists)),
    approval_objects: column((o) => o.approval?.object ?? null),
    approval_revisions: column((o) => o.approval?.revision ?? null),
    approval_hashes: column((o) => o.approvalHash),
    step_references: column((o) => JSON.stringify(o.stepReferences)),
    not_befores: column((o) => o.notBefore),
    deadlines: column((o) => o.deadline),
    max_attempts: column((o) => o.maxAttempts),
    on_unknowns: column((o) => o.onUnknown),
    causations: column((o) => o.causationId),
    traceparents: column((o) => o.traceparent),
    requests: column((o) => JSON.stringify(o.request)),
  });
  return await withoutForgotten(tx, inserted);
}

async function withoutForgotten(tx: Transaction, inserted: InsertedOperation[]): Promise<InsertedOperation[]> {
  const withdrawn = await withdrawForgotten.run(tx, {
    tenants: inserted.map((row) => row.tenant_id),
    operation_ids: inserted.map((row) => row.operation_id),
  });
  if (withdrawn.length === 0) return inserted;
  const gone = new Set(withdrawn.map((row) => `${row.tenant_id}/${row.operation_id}`));
  return inserted.filter((row) => !gone.has(`${row.tenant_id}/${row.operation_id}`));
}
