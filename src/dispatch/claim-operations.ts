import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement, type Executor } from '../database/statement.ts';
import { deadlineIn, monotonicNow } from '../runtime/monotonic.ts';
import { reach } from '../runtime/signal.ts';
import type { ClaimedOperation, ClaimedRow } from './claimed-operation.ts';

export interface Lane {
  readonly tenantId: string;
  readonly provider: string;
}

/** Operations per second that a tenant may hand to a provider, over all replicas. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface ClaimSettings {
  readonly worker: string;
  readonly leaseSeconds: number;
}

export interface DueLane extends Lane {
  /** Its provider refused the account, and the pause is over: to be tried with one operation. */
  readonly stopped: boolean;
}

interface DueRow {
  readonly tenant_id: string;
  readonly provider: string;
  readonly stopped: boolean;
}

const findDue = loadStatement<{ tenants: string[]; providers: string[] }, DueRow>(
  import.meta.url,
  'find-due-lanes.sql',
);
const claim = loadStatement<
  { tenant: string; provider: string; limit: number; worker: string; lease_seconds: number },
  ClaimedRow
>(import.meta.url, 'claim-operations.sql');
const refill = loadStatement<
  { tenant: string; provider: string; per_second: number; burst: number },
  { available: number }
>(import.meta.url, 'refill-tokens.sql');
const spend = loadStatement<{ tenant: string; provider: string; spent: number }, never>(
  import.meta.url,
  'spend-tokens.sql',
);

/** The lanes in which something is due now. */
export async function findDueLanes(executor: Executor, lanes: readonly Lane[]): Promise<DueLane[]> {
  const rows = await findDue.run(executor, {
    tenants: lanes.map((lane) => lane.tenantId),
    providers: lanes.map((lane) => lane.provider),
  });
  return rows.map((row) => ({ tenantId: row.tenant_id, provider: row.provider, stopped: row.stopped }));
}

/**
 * Claims up to `limit` due operations of a lane, within its rate. No transaction stays open after it; what was claimed is
 * ours until the lease ends, and then anybody's.
 */
export async function claimOperations(
  dataSource: DataSource,
  lane: Lane,
  limit: number,
  rate: Rate | null,
  settings: ClaimSettings,
): Promise<ClaimedOperation[]> {
  // Taken before the statement: our own deadline is never later than the database's.
  const askedAt = monotonicNow();
  const rows = rate
    ? await claimWithinRate(dataSource, lane, limit, rate, settings)
    : await claimRows(dataSource, lane, limit, settings);
  await reach('dispatch.after-claim');
  const lease = deadlineIn(settings.leaseSeconds * 1000, askedAt);
  return rows.map((row) => ({ ...row, provider: lane.provider, lease }));
}

async function claimWithinRate(
  dataSource: DataSource,
  lane: Lane,
  limit: number,
  rate: Rate,
  settings: ClaimSettings,
): Promise<ClaimedRow[]> {
  return await inTransaction(dataSource, 'claim', async (tx) => {
    const key = { tenant: lane.tenantId, provider: lane.provider };
    const [tokens] = await refill.run(tx, { ...key, per_second: rate.perSecond, burst: rate.burst });
    const allowed = Math.min(limit, tokens?.available ?? 0);
    if (allowed < 1) return [];
    const rows = await claimRows(tx, lane, allowed, settings);
    if (rows.length > 0) await spend.run(tx, { ...key, spent: rows.length });
    return rows;
  });
}

async function claimRows(
  executor: Executor,
  lane: Lane,
  limit: number,
  settings: ClaimSettings,
): Promise<ClaimedRow[]> {
  return await claim.run(executor, {
    tenant: lane.tenantId,
    provider: lane.provider,
    limit,
    worker: settings.worker,
    lease_seconds: settings.leaseSeconds,
  });
}
