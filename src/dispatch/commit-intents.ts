import type { DataSource } from 'typeorm';
import { loadStatement } from '../database/statement.ts';
import { reach } from '../runtime/signal.ts';
import { fences, type ClaimedOperation } from './claimed-operation.ts';

/** What the last look said of one operation. Only after `committed` may its provider be called. */
export type IntentOutcome =
  | { readonly kind: 'committed'; readonly attempt: number }
  | { readonly kind: 'suppressed'; readonly reason: string }
  | { readonly kind: 'expired' }
  /** Its campaign is not sending this revision now. */
  | { readonly kind: 'held-back' }
  | { readonly kind: 'not-approved' }
  /** Somebody else holds it, or it was ended: nothing more is written for it. */
  | { readonly kind: 'claim-lost' };

interface IntentRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly verdict: Exclude<IntentOutcome['kind'], 'claim-lost'>;
  readonly suppressed_scope: string | null;
  readonly suppressed_reason: string | null;
  readonly attempts: number | null;
}

const commit = loadStatement<
  { tenants: string[]; operation_ids: string[]; claim_seqs: string[]; provider: string; worker: string },
  IntentRow
>(import.meta.url, 'commit-intents.sql');

/** Commits the intents of those about to be called, all of one provider, in one statement; one outcome each, by index. */
export async function commitIntents(
  dataSource: DataSource,
  provider: string,
  worker: string,
  operations: readonly ClaimedOperation[],
): Promise<IntentOutcome[]> {
  const rows = await commit.run(dataSource, { ...fences(operations), provider, worker });
  await reach('dispatch.after-intents');
  const found = new Map(rows.map((row) => [`${row.tenant_id}/${row.operation_id}`, row]));
  return operations.map((each) => outcomeOf(found.get(`${each.tenant_id}/${each.operation_id}`)));
}

function outcomeOf(row: IntentRow | undefined): IntentOutcome {
  if (!row) return { kind: 'claim-lost' };
  switch (row.verdict) {
    case 'committed':
      return row.attempts === null ? { kind: 'claim-lost' } : { kind: 'committed', attempt: row.attempts };
    case 'suppressed':
      return { kind: 'suppressed', reason: `${row.suppressed_scope}: ${row.suppressed_reason}` };
    case 'expired':
    case 'held-back':
    case 'not-approved':
      return { kind: row.verdict };
  }
}
