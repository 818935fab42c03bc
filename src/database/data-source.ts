import { DataSource, type MixedList } from 'typeorm';
import { migrations } from '../../migrations/index.ts';

export interface DatabaseSettings {
  readonly url: string;
  readonly poolSize: number;
  /** Shown by `pg_stat_activity`. */
  readonly applicationName: string;
  /** Classes of entities for plain reads; statements need none. */
  readonly entities?: MixedList<new () => object>;
}

/** Longer than any statement of a healthy service, shorter than a Kafka session (30 s): a stuck one frees its chunk. */
const STATEMENT_TIMEOUT_MS = 20_000;

/** The pool of the service and of the migration command. Nothing is synchronised or migrated by itself. */
export function createDataSource(settings: DatabaseSettings): DataSource {
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
      statement_timeout: STATEMENT_TIMEOUT_MS,
      // The client's own limit catches a peer that has vanished without closing the connection.
      query_timeout: STATEMENT_TIMEOUT_MS + 5_000,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
}
