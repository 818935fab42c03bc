import type { DataSource } from 'typeorm';
import { loadStatement } from '../../database/statement.ts';
import type { Provider } from '../../providers/provider.port.ts';
import { reach } from '../../runtime/signal.ts';
import { fences, type Fence } from '../claimed-operation.ts';

/** What the last look said. Only after `committed` may the key be used again. */
export type ReplayIntent =
  'committed' | 'definition-changed' | 'expired' | 'held-back' | 'not-approved' | 'suppressed' | 'claim-lost';

export interface Replay {
  readonly operation: Fence;
  readonly requestHash: Buffer;
}

const commit = loadStatement<
  Record<'tenants' | 'operation_ids' | 'claim_seqs' | 'request_hashes', unknown[]> &
    Record<'account' | 'worker', string>,
  { tenant_id: string; operation_id: string; verdict: Exclude<ReplayIntent, 'claim-lost'> }
>(import.meta.url, 'commit-replays.sql');

/** Commits the intents of replays in one statement; one outcome each, by index. */
export async function commitReplays(
  dataSource: DataSource,
  { account }: Pick<Provider, 'account'>,
  worker: string,
  replays: readonly Replay[],
): Promise<ReplayIntent[]> {
  const rows = await commit.run(dataSource, {
    ...fences(replays.map(({ operation }) => operation)),
    request_hashes: replays.map(({ requestHash }) => requestHash),
    account,
    worker,
  });
  await reach('resolve.after-intents');
  const verdicts = new Map(rows.map((row) => [`${row.tenant_id}/${row.operation_id}`, row.verdict]));
  return replays.map(
    ({ operation }) => verdicts.get(`${operation.tenant_id}/${operation.operation_id}`) ?? 'claim-lost',
  );
}
