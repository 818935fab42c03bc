import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MIGRATE = fileURLToPath(new URL('../../dist/src/cli/migrate.js', import.meta.url));

/** Brings a database to the newest schema with the compiled migration command, as a deployment does. */
export async function migrateUp(databaseUrl: string): Promise<void> {
  await promisify(execFile)(process.execPath, [MIGRATE, 'up'], { env: { ...process.env, DATABASE_URL: databaseUrl } });
}
