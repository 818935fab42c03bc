import type { DataSource } from 'typeorm';
import { loadStatement } from '../database/statement.ts';
import type { Provider, Shape } from '../providers/provider.port.ts';
import { reach } from '../runtime/signal.ts';
import { fences, type ClaimedOperation } from './claimed-operation.ts';

/** What the last look said of one operation. Only after `committed` may its provider be called. */
export type IntentOutcome =
  | { readonly kind: 'committed'; readonly attempt: number; readonly startedAt: Date }
  | { readonly kind: 'suppressed'; readonly reason: string }
  | { readonly kind: 'expired' }
  /** Its campaign is not sending this revision now. */
  | { readonly kind: 'held-back' }
  | { readonly kind: 'not-approved' }
  /** What would be sent is not what the first attempt sent. */
  | { readonly kind: 'definition-changed' }
  /** Somebody else holds it, or it was ended: nothing more is written for it. */
  | { readonly kind: 'claim-lost' };

interface IntentRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly verdict: Exclude<IntentOutcome['kind'], 'claim-lost'>;
  readonly suppressed_scope: string | null;
  readonly suppressed_reason: string | null;
  readonly attempts: number | null;
  readonly started_at: Date;
}

/** What is about to be called: the request is complete, and its bytes are known. */
export interface Intent {
  readonly operation: ClaimedOperation;
  readonly requestHash: Buffer;
  readonly shape: Shape;
  /** Of a step's request as it was rendered. */
  readonly inputHash: Buffer | null;
  /** Of those that share one call; null: it has its own. */
  readonly batchId: string | null;
}

const commit = loadStatement<
  Record<'tenants' | 'operation_ids' | 'claim_seqs' | 'request_hashes' | 'request_shapes' | 'batch_ids', unknown[]> &
    Record<'provider' | 'account' | 'worker', string>,
  IntentRow
>(import.meta.url, 'commit-intents.sql');

/** Commits the intents of those about to be called, all of one provider, in one statement; one outcome each, by index. */
export async function commitIntents(
  dataSource: DataSource,
  { name, account }: Pick<Provider, 'name' | 'account'>,
  worker: string,
  intents: readonly Intent[],
): Promise<IntentOutcome[]> {
  const operations = intents.map((intent) => intent.operation);
  const rows = await commit.run(dataSource, {
    ...fences(operations),
    request_hashes: intents.map((intent) => intent.requestHash),
    request_shapes: intents.map(({ shape }) => (shape === null ? null : JSON.stringify(shape))),
    batch_ids: intents.map(({ batchId }) => batchId),
    provider: name,
    account,
    worker,
  });
  await reach('dispatch.after-intents');
  const found = new Map(rows.map((row) => [`${row.tenant_id}/${row.operation_id}`, row]));
  return operations.map((each) => outcomeOf(found.get(`${each.tenant_id}/${each.operation_id}`)));
}

function outcomeOf(row: IntentRow | undefined): IntentOutcome {
  if (!row) return { kind: 'claim-lost' };
  switch (row.verdict) {
    case 'committed':
      return row.attempts === null
        ? { kind: 'claim-lost' }
        : { kind: 'committed', attempt: row.attempts, startedAt: row.started_at };
    case 'suppressed':
      return { kind: 'suppressed', reason: `${row.suppressed_scope}: ${row.suppressed_reason}` };
    case 'expired':
    case 'held-back':
    case 'not-approved':
    case 'definition-changed':
      return { kind: row.verdict };
  }
}
