import type { DataSource } from 'typeorm';

/** More than any wait of the resolution, and far less than how long a key is good. */
const PASS = "interval '30 minutes'";

/**
 * Moves the time of a ledger by hand. Rows that a hanging transaction holds are passed over, as the service does, so that nobody
 * here waits for the one who hangs.
 */
export class LedgerClock {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  /** Ends every lease, also those under which somebody finds out. */
  async endLeases(): Promise<void> {
    await this.#change('operations', "lease_until = now() - interval '1 second'", 'lease_until IS NOT NULL');
  }

  /** Half an hour goes by; what waits to be tried again is due. */
  async pass(): Promise<void> {
    await this.#change('attempts', `started_at = started_at - ${PASS}, ended_at = ended_at - ${PASS}`);
    await this.#change('receipts', `received_at = received_at - ${PASS}`);
    await this.#change('evidence', `at = at - ${PASS}`);
    await this.#change(
      'operations',
      `unknown_since = unknown_since - ${PASS}, resolve_at = resolve_at - ${PASS},
       not_before = not_before - CASE state WHEN 'queued' THEN ${PASS} ELSE interval '0' END`,
    );
  }

  /** Whether nobody has anything to do any more, and nobody holds anything. */
  async isQuiet(): Promise<boolean> {
    const busy: unknown[] = await this.#dataSource.query(
      `SELECT FROM operations
       WHERE lease_until IS NOT NULL OR state IN ('queued', 'claimed', 'calling') OR (state = 'unknown' AND resolve_at < 'infinity')
       LIMIT 1`,
    );
    return busy.length === 0;
  }

  /** The same text as before: nothing was done meanwhile. */
  async trace(): Promise<string> {
    const rows: unknown[] = await this.#dataSource.query(
      `SELECT state, claim_seq, attempts, resolve_at = 'infinity' AS held,
              (SELECT count(*) FROM evidence e WHERE e.operation_id = o.operation_id) AS steps
       FROM operations o ORDER BY operation_key`,
    );
    return JSON.stringify(rows);
  }

  async #change(table: string, set: string, where = 'true'): Promise<void> {
    await this.#dataSource.query(
      `WITH free AS (SELECT ctid FROM ${table} WHERE ${where} FOR UPDATE SKIP LOCKED)
       UPDATE ${table} t SET ${set} FROM free WHERE t.ctid = free.ctid`,
    );
  }
}
