import { loadStatement, type Executor } from '../database/statement.ts';

export interface AuditRow {
  /** Counts up; the newest has the highest. */
  readonly audit_id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly reason: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditPage {
  readonly tenant: string;
  readonly object: string | null;
  /** Only what is older than this row. */
  readonly beforeId: string | null;
  readonly limit: number;
}

type Parameters = { tenant: string; before_id: string; limit: number };

const list = loadStatement<Parameters, AuditRow>(import.meta.url, 'list-audit.sql');
const listOfObject = loadStatement<Parameters & { object: string }, AuditRow>(
  import.meta.url,
  'list-audit-of-object.sql',
);

const MAX_BIGINT = '9223372036854775807';

/** What was decided, newest first. */
export async function listAudit(executor: Executor, page: AuditPage): Promise<AuditRow[]> {
  const { tenant, object, beforeId, limit } = page;
  const parameters = { tenant, before_id: beforeId ?? MAX_BIGINT, limit };
  return object === null
    ? await list.run(executor, parameters)
    : await listOfObject.run(executor, { ...parameters, object });
}
