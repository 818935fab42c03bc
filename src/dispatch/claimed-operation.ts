import type { Shape } from '../providers/provider.port.ts';
import type { Deadline } from '../runtime/monotonic.ts';

/** A row as the claim returns it; `bigint` columns come as text. */
export interface ClaimedRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly operation_key: string;
  /** The fencing token: every later write names it. */
  readonly claim_seq: string;
  readonly kind: 'email' | 'http' | 'steps';
  /** Of kind steps: the one to be done now. */
  readonly step: number;
  readonly class: 'marketing' | 'transactional';
  readonly payload_hash: Buffer;
  readonly campaign_id: string | null;
  readonly revision: string | null;
  /** What must be approved before the call, if anything. */
  readonly approval_object: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  /** How often the provider has asked to wait. */
  readonly throttles: number;
  /** How often a worker was lost between claim and call. */
  readonly crashes: number;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
  readonly created_at: Date;
  /** Of the first attempt, and the settings that it was made with: every later one must be the same bytes. */
  readonly request_hash: Buffer | null;
  readonly request_shape: Shape;
  readonly request: unknown;
}

/** An operation that this process may attempt until its local deadline, which is earlier than the lease in the database. */
export interface ClaimedOperation extends ClaimedRow {
  readonly provider: string;
  readonly lease: Deadline;
}

export interface Fence {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly claim_seq: string;
}

/** The columns that fence a write, for many rows at once. */
export function fences(operations: readonly Fence[]): {
  tenants: string[];
  operation_ids: string[];
  claim_seqs: string[];
} {
  return {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
    claim_seqs: operations.map((each) => each.claim_seq),
  };
}
