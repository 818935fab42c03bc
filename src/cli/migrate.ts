import { createDataSource } from '../database/data-source.ts';
import { environmentValue, readEnvironment } from '../config/env.ts';

/** `node dist/src/cli/migrate.js up|down`: all pending migrations, or the newest one back. Needs DATABASE_URL only. */
const direction = process.argv[2] ?? 'up';
const url = environmentValue(readEnvironment(), 'DATABASE_URL');
if (!url || !['up', 'down'].includes(direction)) {
  process.stderr.write('usage: DATABASE_URL=postgres://... migrate up|down\n');
  process.exit(2);
}

const dataSource = createDataSource({ url, poolSize: 2, applicationName: 'einmal migrate', statementTimeoutMs: 0 });
await dataSource.initialize();
try {
  if (direction === 'up') {
    const done = await dataSource.runMigrations();
    process.stdout.write(
      done.length === 0 ? 'the schema is up to date\n' : `${done.map(({ name }) => name).join('\n')}\n`,
    );
  } else {
    await dataSource.undoLastMigration();
    process.stdout.write('the newest migration was taken back\n');
  }
} finally {
  await dataSource.destroy();
}
