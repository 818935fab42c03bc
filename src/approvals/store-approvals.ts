import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';

export interface ApprovalFact {
  readonly tenantId: string;
  readonly object: string;
  readonly revision: number;
  /** `sha256:` and 64 hex digits; `null` for a withdrawal. */
  readonly hash: string | null;
  readonly granted: boolean;
  readonly decidedBy: string;
  readonly reason: string | null;
  readonly expiresAt: string | null;
  readonly factTime: Date;
}

const store = loadStatement<
  Record<
    'tenants' | 'objects' | 'revisions' | 'hashes' | 'granted' | 'decided_by' | 'reasons' | 'expiries' | 'fact_times',
    unknown[]
  >,
  never
>(import.meta.url, 'store-approvals.sql');

/**
 * Keeps approvals and withdrawals, the newest of each object and revision, whether or not what they speak of is there yet.
 *
 * @param facts each (tenant, object, revision) at most once
 */
export async function storeApprovals(tx: Transaction, facts: readonly ApprovalFact[]): Promise<void> {
  const column = <T>(pick: (fact: ApprovalFact) => T): T[] => facts.map(pick);
  await store.run(tx, {
    tenants: column((fact) => fact.tenantId),
    objects: column((fact) => fact.object),
    revisions: column((fact) => fact.revision),
    hashes: column((fact) => fact.hash),
    granted: column((fact) => fact.granted),
    decided_by: column((fact) => fact.decidedBy),
    reasons: column((fact) => fact.reason),
    expiries: column((fact) => fact.expiresAt),
    fact_times: column((fact) => fact.factTime),
  });
}
