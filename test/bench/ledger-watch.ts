import { Client } from 'pg';
import { pollUntil } from '../support/stack/poll-until.ts';
import type { Stack } from '../support/stack/stack.ts';

const POLL_MS = 250;

/** Lets PostgreSQL remember when each transaction committed. @throws Error for a server that is not ours and does not */
export async function rememberCommitTimes(stack: Stack): Promise<void> {
  const on = await asked(stack.databaseUrl, async (client) => {
    const { rows } = await client.query<{ track_commit_timestamp: string }>('SHOW track_commit_timestamp');
    if (rows[0]?.track_commit_timestamp === 'on') return true;
    if (stack.postgres) await client.query('ALTER SYSTEM SET track_commit_timestamp = on');
    return false;
  });
  if (on) return;
  if (!stack.postgres) throw new Error('set track_commit_timestamp = on in the PostgreSQL of DATABASE_URL');
  await stack.postgres.restart();
}

/** The judge of the consume pair: what is committed, by the clock of the database. */
export class LedgerWatch {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(databaseUrl: string): Promise<LedgerWatch> {
    const client = new Client({ connectionString: databaseUrl });
    client.on('error', () => {}); // A lost connection also rejects the call in hand.
    await client.connect();
    return new LedgerWatch(client);
  }

  async count(table: 'operations' | 'subscribers' | 'outbox'): Promise<number> {
    const { rows } = await this.#client.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${table}`);
    return rows[0]?.n ?? 0;
  }

  async reaches(table: 'operations' | 'subscribers' | 'outbox', wanted: number, deadlineMs: number): Promise<void> {
    const reached = await pollUntil(async () => ((await this.count(table)) === wanted ? true : null), {
      deadlineMs,
      everyMs: POLL_MS,
    });
    if (reached === null) throw new Error(`${table} has ${await this.count(table)} rows instead of ${wanted}`);
  }

  async campaignCompletes(campaignId: string, deadlineMs: number): Promise<void> {
    const question = `SELECT 1 FROM campaigns WHERE campaign_id = $1 AND state = 'completed'`;
    const completed = await pollUntil(
      async () => ((await this.#client.query(question, [campaignId])).rowCount === 1 ? true : null),
      { deadlineMs, everyMs: POLL_MS },
    );
    if (completed === null) throw new Error(`campaign ${campaignId} is not completed`);
  }

  /**
   * Operations whose keys begin with `prefix`, from the first commit to the last: those of the first commit were done before
   * the time that is measured began.
   */
  async committedPerSecond(prefix: string): Promise<number> {
    const { rows } = await this.#client.query<{ after_first: number; seconds: number }>(
      `WITH committed AS (
         SELECT pg_xact_commit_timestamp(xmin) AS at FROM operations WHERE starts_with(operation_key, $1)
       )
       SELECT count(*) FILTER (WHERE at > first)::integer AS after_first,
              extract(epoch FROM max(at) - min(first))::float8 AS seconds
       FROM committed, (SELECT min(at) AS first FROM committed) f`,
      [prefix],
    );
    const { after_first: records, seconds } = rows[0] ?? { after_first: 0, seconds: 0 };
    if (!(seconds > 0)) throw new Error(`all of ${prefix} was committed at once: ask for more records`);
    return records / seconds;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

async function asked<T>(url: string, ask: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await ask(client);
  } finally {
    await client.end();
  }
}
