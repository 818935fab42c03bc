import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { ADDRESS_KEY_VERSION } from '../mail/address.ts';

export type SuppressionReason = 'unsubscribed' | 'hard-bounce' | 'complaint' | 'manual';

export interface SuppressionFact {
  readonly tenantId: string;
  readonly addressKey: string;
  /** `all`, `marketing` or `list:ID`. */
  readonly scope: string;
  readonly reason: SuppressionReason;
  readonly active: boolean;
  /** What led to it, in words without the address. */
  readonly cause: string;
  readonly factTime: Date;
  /** RFC 3339, or `null` for good. */
  readonly expiresAt: string | null;
}

export interface SuppressionChange {
  readonly tenant_id: string;
  readonly address_key: string;
  readonly scope: string;
  readonly reason: SuppressionReason;
  readonly active: boolean;
  readonly cause: string;
}

const upsert = loadStatement<
  Record<
    | 'tenants'
    | 'address_keys'
    | 'scopes'
    | 'key_versions'
    | 'reasons'
    | 'actives'
    | 'causes'
    | 'fact_times'
    | 'expiries',
    unknown[]
  >,
  SuppressionChange
>(import.meta.url, 'upsert-suppressions.sql');

/**
 * Stores suppressions and lifts, the newest fact of each (tenant, address, scope), and returns what changed by it.
 *
 * @param facts each (tenant, address, scope) at most once
 */
export async function upsertSuppressions(
  tx: Transaction,
  facts: readonly SuppressionFact[],
): Promise<SuppressionChange[]> {
  if (facts.length === 0) return [];
  const column = <T>(pick: (fact: SuppressionFact) => T): T[] => facts.map(pick);
  return await upsert.run(tx, {
    tenants: column((fact) => fact.tenantId),
    address_keys: column((fact) => fact.addressKey),
    scopes: column((fact) => fact.scope),
    key_versions: facts.map(() => ADDRESS_KEY_VERSION),
    reasons: column((fact) => fact.reason),
    actives: column((fact) => fact.active),
    causes: column((fact) => fact.cause),
    fact_times: column((fact) => fact.factTime),
    expiries: column((fact) => fact.expiresAt),
  });
}
