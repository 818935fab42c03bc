import { Pool, type QueryResultRow } from 'pg';
import type { OperationState } from '../../src/operations/operation.states.ts';

export interface LedgerOperation {
  readonly operationId: string;
  readonly operationKey: string;
  readonly state: OperationState;
  readonly reason: string | null;
  readonly addressKey: string;
}

export interface LedgerAttempt {
  readonly operationKey: string;
  readonly claimNumber: string;
  readonly startedAt: Date;
  readonly outcome: string | null;
  readonly code: string | null;
}

/** How far a campaign is. Counts are of operations, where nothing else is said. */
export interface Standing {
  readonly subscribers: number;
  readonly suppressions: number;
  /** null before the revision is there. */
  readonly campaignState: string | null;
  readonly byState: Partial<Record<OperationState, number>>;
  readonly leftOut: Readonly<Record<string, number>>;
  /** Until the first lease ends; null when nothing is leased. */
  readonly leaseSeconds: number | null;
}

const TENANT = 'demo';
const STANDING = `
  SELECT (SELECT count(*)::integer FROM subscribers WHERE tenant_id = $1) AS subscribers,
    (SELECT count(*)::integer FROM suppressions WHERE tenant_id = $1 AND active) AS suppressions,
    (SELECT state FROM campaigns WHERE tenant_id = $1 AND campaign_id = $2) AS "campaignState",
    (SELECT coalesce(json_object_agg(state, n), '{}') FROM (
      SELECT state, count(*) AS n FROM operations WHERE tenant_id = $1 AND campaign_id = $2 GROUP BY state
    ) states) AS "byState",
    (SELECT coalesce(json_object_agg(reason, n), '{}') FROM (
      SELECT reason, count(*) AS n FROM campaign_exclusions WHERE tenant_id = $1 AND campaign_id = $2 GROUP BY reason
    ) reasons) AS "leftOut",
    (SELECT ceil(extract(epoch FROM min(lease_until) - now()))::integer FROM operations
      WHERE state IN ('claimed', 'calling')) AS "leaseSeconds"`;
const OPERATIONS = `
  SELECT operation_id AS "operationId", operation_key AS "operationKey", state, state_reason AS reason,
    address_key AS "addressKey"
  FROM operations WHERE tenant_id = $1 AND campaign_id = $2 ORDER BY operation_key`;
const ATTEMPTS = `
  SELECT o.operation_key AS "operationKey", a.claim_seq AS "claimNumber", a.started_at AS "startedAt", a.outcome, a.code
  FROM operations o JOIN attempts a USING (tenant_id, operation_id)
  WHERE tenant_id = $1 AND o.campaign_id = $2 AND o.operation_key = ANY ($3)
  ORDER BY o.operation_key, a.claim_seq`;
const LAST_QUEUED = `
  SELECT subscriber_id FROM operations WHERE tenant_id = $1 AND campaign_id = $2 AND state = 'queued'
  ORDER BY priority, not_before DESC, subscriber_id DESC LIMIT $3`;

/** A look at the service's tables from outside, for one campaign of the tenant `demo`. */
export class Ledger {
  readonly #pool: Pool;
  readonly #campaignId: string;

  constructor(databaseUrl: string, campaignId: string) {
    this.#pool = new Pool({ connectionString: databaseUrl, application_name: 'journey', max: 2 });
    this.#pool.on('error', () => {}); // A lost connection also rejects the next query.
    this.#campaignId = campaignId;
  }

  async standing(): Promise<Standing> {
    const [row] = await this.#rows<Standing>(STANDING);
    if (!row) throw new Error('a SELECT without FROM gave no row');
    return row;
  }

  async operations(): Promise<LedgerOperation[]> {
    return await this.#rows<LedgerOperation>(OPERATIONS);
  }

  async attemptsOf(operationKeys: readonly string[]): Promise<LedgerAttempt[]> {
    return await this.#rows<LedgerAttempt>(ATTEMPTS, operationKeys);
  }

  /** Subscribers who come last of those still queued. */
  async lastQueued(count: number): Promise<string[]> {
    return (await this.#rows<{ subscriber_id: string }>(LAST_QUEUED, count)).map((row) => row.subscriber_id);
  }

  /** The database's time at which the suppression of this scope was seen to be in force; null while it is not. */
  async suppressedSince(addressKey: string, scope: string): Promise<Date | null> {
    const { rows } = await this.#pool.query<{ seen: Date }>(
      'SELECT now() AS seen FROM suppressions WHERE tenant_id = $1 AND address_key = $2 AND scope = $3 AND active',
      [TENANT, addressKey, scope],
    );
    return rows[0]?.seen ?? null;
  }

  async deadLetters(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ text: string }>(
      `SELECT topic || ': ' || reason || ': ' || detail AS text FROM dead_letters ORDER BY dead_letter_id LIMIT 20`,
    );
    return rows.map((row) => row.text);
  }

  async outboxIsEmpty(): Promise<boolean> {
    return (await this.#pool.query('SELECT FROM outbox LIMIT 1')).rowCount === 0;
  }

  /** False once PostgreSQL has noticed the end of every process with this name, so that nothing of theirs commits any more. */
  async isConnected(applicationName: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 LIMIT 1',
      [applicationName],
    );
    return rowCount !== 0;
  }

  /** For each worker that was lost during calls: how many operations it left unknown. */
  async lostByWorker(): Promise<number[]> {
    const rows = await this.#rows<{ lost: number }>(
      `SELECT count(*)::integer AS lost FROM attempts a JOIN operations o USING (tenant_id, operation_id)
       WHERE o.tenant_id = $1 AND o.campaign_id = $2 AND a.code = 'lease-expired' GROUP BY a.worker`,
    );
    return rows.map((row) => row.lost);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #rows<R extends QueryResultRow>(sql: string, ...parameters: unknown[]): Promise<R[]> {
    return (await this.#pool.query<R>(sql, [TENANT, this.#campaignId, ...parameters])).rows;
  }
}

const BEFORE_THE_END: readonly OperationState[] = ['awaiting-approval', 'queued', 'claimed', 'calling'];

/** Operations in these states; all of them when none are named. */
export function countIn(standing: Standing, ...states: OperationState[]): number {
  const wanted = Object.entries(standing.byState).filter(
    ([state]) => states.length === 0 || states.some((each) => each === state),
  );
  return wanted.reduce((sum, [, count]) => sum + count, 0);
}

/** Final or unknown: nothing more happens by itself. */
export function countEnded(standing: Standing): number {
  return countIn(standing) - countIn(standing, ...BEFORE_THE_END);
}

/** The audience is whole and nothing of it is under way. Unknown ones keep the campaign in `sending`. */
export function isSettled(standing: Standing): boolean {
  const whole = standing.campaignState === 'sending' || standing.campaignState === 'completed';
  return whole && countIn(standing, ...BEFORE_THE_END) === 0 && countIn(standing) > 0;
}
