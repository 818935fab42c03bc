import type { DataSource } from 'typeorm';
import { loadStatement } from '../../database/statement.ts';
import { readEvidence } from '../../operations/settle-by-evidence/read-evidence.ts';
import type { Shape } from '../../providers/provider.port.ts';
import { deadlineIn, monotonicNow, type Deadline } from '../../runtime/monotonic.ts';
import { reach } from '../../runtime/signal.ts';
import type { Composable } from '../compose.ts';
import type { PastAttempt, UnknownHistory } from './plan-resolution.ts';

interface UnknownRow extends Composable {
  readonly claim_seq: string;
  readonly on_unknown: UnknownHistory['onUnknown'];
  readonly unknown_since: Date;
  readonly request_hash: Buffer | null;
  readonly request_shape: Shape;
  readonly now: Date;
}

/** An operation whose outcome this process may try to find out until its deadline, with all that was tried before. */
export interface UnknownOperation extends UnknownRow {
  readonly lease: Deadline;
  readonly history: UnknownHistory;
  /** Of the call that left it unknown, where that carried others too. */
  readonly batchId: string | null;
}

interface AttemptRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly started_at: Date;
  readonly purpose: 'deliver' | 'replay';
  readonly outcome: string | null;
  readonly account: string | null;
  readonly batch_id: string | null;
}

const claim = loadStatement<{ provider: string; limit: number; worker: string; lease_seconds: number }, UnknownRow>(
  import.meta.url,
  'claim-unknowns.sql',
);
const readAttempts = loadStatement<{ tenants: string[]; operation_ids: string[] }, AttemptRow>(
  import.meta.url,
  'read-attempts.sql',
);

/** Claims what is due of one provider, with its history. No transaction stays open after it. */
export async function claimUnknowns(
  dataSource: DataSource,
  provider: string,
  limit: number,
  settings: { readonly worker: string; readonly leaseSeconds: number },
): Promise<UnknownOperation[]> {
  // Taken before the statement: our own deadline is never later than the database's.
  const askedAt = monotonicNow();
  const { worker, leaseSeconds: lease_seconds } = settings;
  const rows = await claim.run(dataSource, { provider, limit, worker, lease_seconds });
  await reach('resolve.after-claim');
  if (rows.length === 0) return [];
  const attempts = await readAttempts.run(dataSource, {
    tenants: rows.map((row) => row.tenant_id),
    operation_ids: rows.map((row) => row.operation_id),
  });
  const evidence = await readEvidence(dataSource, rows);
  const lease = deadlineIn(lease_seconds * 1000, askedAt);
  return rows.map((row) => ({
    ...row,
    lease,
    batchId: attempts.findLast((each) => isOf(each, row))?.batch_id ?? null,
    history: {
      now: row.now,
      unknownSince: row.unknown_since,
      attempts: attempts.filter((each) => isOf(each, row)).map(pastAttempt),
      // What was tried for an earlier unknown of the same operation was decided then.
      steps: (evidence.get(`${row.tenant_id}/${row.operation_id}`) ?? []).filter(({ at }) => at >= row.unknown_since),
      onUnknown: row.on_unknown,
    },
  }));
}

function isOf(attempt: AttemptRow, row: UnknownRow): boolean {
  return attempt.operation_id === row.operation_id && attempt.tenant_id === row.tenant_id;
}

function pastAttempt({ started_at: startedAt, purpose, outcome, account }: AttemptRow): PastAttempt {
  return { startedAt, purpose, outcome, account };
}
