import type { DataSource } from 'typeorm';
import { loadStatement } from '../../database/statement.ts';
import type { Provider } from '../../providers/provider.port.ts';
import { reach } from '../../runtime/signal.ts';
import { fences, type Fence } from '../claimed-operation.ts';
import type { ReplayIntent } from './commit-replays.ts';

const commit = loadStatement<
  Record<'tenants' | 'operation_ids' | 'claim_seqs', unknown[]> & Record<'batch' | 'account' | 'worker', string>,
  { tenant_id: string; operation_id: string; verdict: Exclude<ReplayIntent, 'claim-lost'> }
>(import.meta.url, 'commit-batch-replay.sql');

/**
 * Commits the intents of one batch's replay, for the members that are claimed. One outcome each, by index; `definition-changed`
 * also where another member keeps the batch from being called again.
 */
export async function commitBatchReplay(
  dataSource: DataSource,
  { account }: Pick<Provider, 'account'>,
  worker: string,
  batch: string,
  claimed: readonly Fence[],
): Promise<ReplayIntent[]> {
  const rows = await commit.run(dataSource, {
    ...fences(claimed),
    batch,
    account,
    worker,
  });
  await reach('resolve.after-intents');
  const verdicts = new Map(rows.map((row) => [row.operation_id, row.verdict]));
  return claimed.map(({ operation_id }) => verdicts.get(operation_id) ?? 'claim-lost');
}
