import { DataSource, type MixedList } from 'typeorm';
import { migrations } from '../../migrations/index.ts';

export interface DatabaseSettings {
  readonly url: string;
  readonly poolSize: number;
  /** For migrations, which may build an index for hours: 0 is no limit. */
  readonly statementTimeoutMs?: number;
  /** Shown by `pg_stat_activity`. */
  readonly applicationName: string;
  /** Classes of entities for plain reads; statements need none. */
  readonly entities?: MixedList<new () => object>;
}

/** Longer than any statement of a healthy service, shorter than a Kafka session (30 s): a stuck one frees its chunk. */
const STATEMENT_TIMEOUT_MS = 20_000;

/**
 * Statements are planned once per connection, often while their tables are still empty. A plan that reads whole tables would
 * be right then and ruinous ever after, so each one goes by its indexes from the start, whatever the statistics say. The
 * bitmap scans are off for another reason as well: only plain index scans remember which entries are dead, and the head of a
 * queue is all dead entries.
 */
const PLANNER = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};
const OPTIONS = Object.entries(PLANNER)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

/** The pool of the service and of the migration command. Nothing is synchronised or migrated by itself. */
export function createDataSource(settings: DatabaseSettings): DataSource {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = settings;
  return new DataSource({
    type: 'postgres',
    url: settings.url,
    applicationName: settings.applicationName,
    poolSize: settings.poolSize,
    connectTimeoutMS: 5_000,
    synchronize: false,
    migrationsRun: false,
    logging: false,
    entities: settings.entities ?? [],
    migrations,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    extra: {
      keepAlive: true,
      options: OPTIONS,
      statement_timeout: statementTimeoutMs,
      // The client's own limit catches a peer that has vanished without closing the connection.
      query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + 5_000,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
}
