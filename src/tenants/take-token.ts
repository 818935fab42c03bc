import type { TokenConfig } from '../config/einmal-config.ts';
import { loadStatement, type Executor } from '../database/statement.ts';

/** Whether a request may go on. */
export type TokenOutcome =
  | { readonly kind: 'taken' }
  /** `waitSeconds`: whole ones, until there is room for one again. */
  | { readonly kind: 'used-up'; readonly waitSeconds: number }
  /** By the database's clock. */
  | { readonly kind: 'expired' };

interface TakenRow {
  readonly taken: boolean;
  readonly expired: boolean;
}

const take = loadStatement<
  {
    tenant: string;
    token_name: string;
    per_second: number;
    burst: number;
    expires_at: string | null;
  },
  TakenRow
>(import.meta.url, 'take-token.sql');

const readWait = loadStatement<{ tenant: string; token_name: string; per_second: number }, { seconds: number }>(
  import.meta.url,
  'token-wait.sql',
);

/** Counts one request against the rate of its token, over all replicas. */
export async function takeToken(
  executor: Executor,
  tenant: string,
  { name, rate, expiresAt }: Pick<TokenConfig, 'name' | 'rate' | 'expiresAt'>,
): Promise<TokenOutcome> {
  const bucket = { tenant, token_name: name, per_second: rate.perSecond };
  const [row] = await take.run(executor, { ...bucket, burst: rate.burst, expires_at: expiresAt });
  if (row?.taken) return { kind: 'taken' };
  if (row?.expired) return { kind: 'expired' };
  const [wait] = await readWait.run(executor, bucket);
  return { kind: 'used-up', waitSeconds: wait?.seconds ?? 1 };
}
