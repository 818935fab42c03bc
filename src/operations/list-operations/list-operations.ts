import { loadStatement, type Executor } from '../../database/statement.ts';
import type { OperationState } from '../operation.states.ts';
import { walkOf, WALKS, type ListFilters, type ListPosition } from './walks.ts';

export interface ListedOperation {
  readonly operation_id: string;
  readonly operation_key: string;
  readonly kind: 'email' | 'http' | 'steps' | null;
  readonly class: 'marketing' | 'transactional' | null;
  readonly campaign_id: string | null;
  readonly provider: string | null;
  readonly state: OperationState;
  readonly state_reason: string | null;
  readonly claim_seq: string;
  readonly attempts: number;
  readonly redriven: number;
  readonly effect_id: string | null;
  readonly not_before: Date;
  readonly deadline: Date | null;
  readonly created_at: Date;
  readonly changed_at: Date;
  readonly scrubbed_at: Date | null;
  /** Of the last attempt; null when there was none. */
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly outcome: string | null;
  readonly code: string | null;
  readonly diagnostic: string | null;
}

export type ListPage =
  | { readonly kind: 'page'; readonly items: readonly ListedOperation[]; readonly next: ListPosition | null }
  /** No index serves these filters together. */
  | { readonly kind: 'not-allowed' }
  /** The position is of another list. */
  | { readonly kind: 'other-list' };

const readListed = loadStatement<{ tenants: string[]; operation_ids: string[] }, ListedOperation>(
  import.meta.url,
  'read-listed.sql',
);
const findByEffect = loadStatement<{ tenant: string; effect_id: string }, { operation_id: string }>(
  import.meta.url,
  'find-by-effect.sql',
);

/** Rows that one page looks at, at most: what no index can leave out is left out here. */
const MAX_LOOKED_AT = 1000;

/**
 * A page of a tenant's operations, oldest first (of a campaign: in no order that means something). Each page costs the same
 * whatever the ledger holds; so it may have fewer entries than asked for, even none, and still a next one.
 */
export async function listOperations(
  executor: Executor,
  tenant: string,
  filters: ListFilters,
  after: ListPosition | null,
  limit: number,
): Promise<ListPage> {
  const name = walkOf(filters);
  if (name === null) return { kind: 'not-allowed' };
  if (after && after.walk !== name) return { kind: 'other-list' };
  const walk = WALKS[name];
  const scan = walk.leavesOut(filters) ? MAX_LOOKED_AT : limit + 1;
  const rows = await walk.run(executor, tenant, filters, after, scan);
  const chosen: string[] = [];
  let last: (typeof rows)[number] | null = null;
  let isMore = rows.length === scan;
  for (const row of rows) {
    if (row.matches && chosen.length === limit) {
      isMore = true;
      break;
    }
    if (row.matches) chosen.push(row.operation_id);
    last = row;
  }
  const next = isMore && last && walk.hasPages;
  return {
    kind: 'page',
    items: await listed(executor, tenant, chosen),
    next: next && last ? { walk: name, position: last.position, operationId: last.operation_id } : null,
  };
}

/** The operations that a provider knows by this id, at most 50. */
export async function operationsByEffect(
  executor: Executor,
  tenant: string,
  effectId: string,
): Promise<readonly ListedOperation[]> {
  const rows = await findByEffect.run(executor, { tenant, effect_id: effectId });
  return await listed(
    executor,
    tenant,
    rows.map((row) => row.operation_id),
  );
}

async function listed(executor: Executor, tenant: string, ids: readonly string[]): Promise<ListedOperation[]> {
  if (ids.length === 0) return [];
  return await readListed.run(executor, { tenants: ids.map(() => tenant), operation_ids: [...ids] });
}
