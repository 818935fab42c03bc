import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { expect, inject, it } from 'vitest';
import { OPERATION_STATES } from '../../src/operations/operation.states.ts';
import { CAMPAIGN_STATES } from '../../src/campaigns/campaign.states.ts';
import { migrations } from '../../migrations/index.ts';
import { createDatabase } from '../support/database.ts';
import { migrateUp } from '../support/migrate-up.ts';
import { projectRoot } from '../support/stack/folders.ts';
import { dumpSchema } from './schema-dump.ts';

const adminUrl = inject('databaseUrl');
const schemaFile = join(projectRoot, 'migrations', 'schema.sql');

it('migrations/schema.sql says what the migrations do; if not: npm run schema', async () => {
  await using database = await fresh();
  await migrateUp(database.url);
  expect(await dumpSchema(database.url)).toBe(readFileSync(schemaFile, 'utf8'));
});

it('migrations go up, down and up again, and down leaves nothing', async () => {
  await using database = await fresh();
  await migrateUp(database.url);
  const first = await dumpSchema(database.url);
  for (const _ of migrations) {
    await promisify(execFile)(process.execPath, [join(projectRoot, 'dist/src/cli/migrate.js'), 'down'], {
      env: { ...process.env, DATABASE_URL: database.url },
    });
  }
  expect(await dumpSchema(database.url)).not.toContain('CREATE TABLE');
  await migrateUp(database.url);
  expect(await dumpSchema(database.url)).toBe(first);
});

it.each([
  ['operations', OPERATION_STATES],
  ['campaigns', CAMPAIGN_STATES],
] as const)('the CHECK constraint of %s knows exactly the states of the program', async (table, states) => {
  const client = new Client({ connectionString: await templateUrl() });
  await client.connect();
  const { rows } = await client.query(
    `SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE conrelid = $1::regclass AND conname = $2`,
    [table, `${table}_state_check`],
  );
  await client.end();
  const [row] = rows as { definition: string }[];
  const inDatabase = [...(row?.definition ?? '').matchAll(/'([a-z-]+)'::text/g)].map((match) => match[1]);
  expect(new Set(inDatabase)).toEqual(new Set(states));
});

async function fresh() {
  const database = await createDatabase(adminUrl);
  return { url: database.url, [Symbol.asyncDispose]: () => database.drop() };
}

async function templateUrl(): Promise<string> {
  const url = new URL((await createDatabase(adminUrl, { template: inject('templateDatabase') })).url);
  return url.toString();
}
