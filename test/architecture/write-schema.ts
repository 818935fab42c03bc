import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase } from '../support/database.ts';
import { migrateUp } from '../support/migrate-up.ts';
import { projectRoot } from '../support/stack/folders.ts';
import { startStack } from '../support/stack/stack.ts';
import { dumpSchema } from './schema-dump.ts';

/** `npm run schema`: writes migrations/schema.sql anew from the migrations. */
const stack = await startStack({ mode: 'throwaway', kafka: false });
try {
  const database = await createDatabase(stack.databaseUrl);
  await migrateUp(database.url);
  writeFileSync(join(projectRoot, 'migrations', 'schema.sql'), await dumpSchema(database.url));
} finally {
  await stack.stop();
}
