import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Logger } from '../observability/logger.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { errorCode } from '../runtime/service-error.ts';

const RETRY = { baseMs: 250, capMs: 5_000 };

/**
 * Waits for the database, however long, and looks whether its schema is the one this program was built for. `false` when it
 * is older: the schema changes in a step of its own, never by a service that starts.
 */
export async function openDatabase(dataSource: DataSource, logger: Logger): Promise<boolean> {
  await connect(dataSource, logger);
  if (!(await dataSource.showMigrations())) return true;
  logger.error('database.schema-too-old', {
    remedy: 'run the migrations: npm run migrate, or node dist/src/cli/migrate.js up',
  });
  await dataSource.destroy();
  return false;
}

async function connect(dataSource: DataSource, logger: Logger): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      logger.warn('database.not-there', { code: errorCode(error) });
      await wait(backoffMs(failures, RETRY));
    }
  }
}
