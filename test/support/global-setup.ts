import type { TestProject } from 'vitest/node';
import { createDatabase } from './database.ts';
import { migrateUp } from './migrate-up.ts';
import { startStack } from './stack/stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Administrator's URL of the run's PostgreSQL. */
    databaseUrl: string;
    /** Name of a migrated database to copy; nobody is connected to it. */
    templateDatabase: string;
    /** Brokers of the run, `host:port` by comma. */
    kafkaBrokers: string;
  }
}

/** Starts what all test files share, and stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startStack({ mode: 'throwaway' });
  const template = await createDatabase(stack.databaseUrl);
  await migrateUp(template.url);
  project.provide('databaseUrl', stack.databaseUrl);
  project.provide('templateDatabase', new URL(template.url).pathname.slice(1));
  project.provide('kafkaBrokers', stack.kafkaBrokers);
  return async () => {
    await stack.stop();
  };
}
