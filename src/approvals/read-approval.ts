import { loadStatement, type Executor } from '../database/statement.ts';

/** What was decided last of one object and revision. */
export interface ApprovalRow {
  /** `sha256:` and 64 hex digits; null of a withdrawal. */
  readonly hash: string | null;
  readonly granted: boolean;
  readonly decided_by: string;
  readonly reason: string | null;
  readonly expires_at: Date | null;
  readonly fact_time: Date;
}

const read = loadStatement<{ tenant: string; object: string; revision: number }, ApprovalRow>(
  import.meta.url,
  'read-approval.sql',
);

export async function readApproval(
  executor: Executor,
  tenant: string,
  object: string,
  revision: number,
): Promise<ApprovalRow | null> {
  return (await read.run(executor, { tenant, object, revision }))[0] ?? null;
}
