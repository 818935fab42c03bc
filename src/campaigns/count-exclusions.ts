import { loadStatement, type Executor } from '../database/statement.ts';

const count = loadStatement<{ tenant: string; campaign: string }, { reason: string; subscribers: number }>(
  import.meta.url,
  'count-exclusions.sql',
);

/** Subscribers who were meant and are left out, by reason. */
export async function countExclusions(
  executor: Executor,
  tenant: string,
  campaign: string,
): Promise<Record<string, number>> {
  const rows = await count.run(executor, { tenant, campaign });
  return Object.fromEntries(rows.map((row) => [row.reason, row.subscribers]));
}
