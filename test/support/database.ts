import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface TestDatabase {
  readonly url: string;
  /** Ends its connections and removes it; does nothing for one that is to be kept. May be called again. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Name of a database nobody is connected to, of which the new one is a copy. */
  readonly template?: string;
  /** For a look at it after the test. */
  readonly keep?: boolean;
}

/**
 * A database of one's own named `einmal_test_<12 hex digits>` on the server of `adminUrl`.
 * @param adminUrl `postgresql://...` of a user who may create databases
 */
export async function createDatabase(adminUrl: string, options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `einmal_test_${randomBytes(6).toString('hex')}`;
  const template = options.template === undefined ? '' : ` TEMPLATE "${options.template.replaceAll('"', '""')}"`;
  await execute(adminUrl, `CREATE DATABASE "${name}"${template}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    drop: async () => {
      if (options.keep !== true) await execute(adminUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    },
  };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {}); // A lost connection also rejects the call below.
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
