import { join } from 'node:path';
import { cleanOrphans } from './child-records.ts';
import { projectRoot } from './folders.ts';
import { openKafka, startKafka, type KafkaHandle } from './kafka-broker.ts';
import { kafkaDistribution } from './kafka-distribution.ts';
import { openPostgres, startPostgres, type PostgresHandle } from './postgres-server.ts';

export { cleanOrphans } from './child-records.ts';
export { startKafka, type KafkaHandle } from './kafka-broker.ts';
export { stopAllServers, stopServersOnSignals } from './live-servers.ts';
export { startPostgres, type PostgresHandle } from './postgres-server.ts';
export type { ServerHandle } from './server-handle.ts';
export { StackUnavailable } from './stack-unavailable.ts';

export interface StackOptions {
  /** Persistent: data kept in `dataDirectory`, the same ports each time. Throwaway: nothing stays. */
  readonly mode: 'persistent' | 'throwaway';
  /** For persistent; `.einmal` in the checkout when not given. */
  readonly dataDirectory?: string;
  readonly log?: (line: string) => void;
  /** False: not needed. */
  readonly postgres?: boolean;
  readonly kafka?: boolean;
}

export interface Stack {
  /** Empty when PostgreSQL was not asked for and `DATABASE_URL` is not set. */
  readonly databaseUrl: string;
  /** Comma separated; empty when Kafka was not asked for and `KAFKA_BROKERS` is not set. */
  readonly kafkaBrokers: string;
  /** Only when this process started it. */
  readonly postgres?: PostgresHandle;
  readonly kafka?: KafkaHandle;
  /** Resolves with a description when a server started here ends and nobody asked for it. */
  readonly unexpectedEnd: Promise<string>;
  /** Stops what was started here, Kafka first. May be called again. */
  stop(): Promise<void>;
}

interface Started<Handle> {
  readonly address: string;
  readonly handle: Handle | null;
}

/**
 * A PostgreSQL and a Kafka broker that answer. `DATABASE_URL` and `KAFKA_BROKERS`, where set, are used and nothing of that kind is started.
 * @throws StackUnavailable; then nothing is left running
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const log = options.log ?? (() => {});
  const given = { database: process.env['DATABASE_URL'] ?? '', kafka: process.env['KAFKA_BROKERS'] ?? '' };
  const wantsPostgres = options.postgres !== false && given.database === '';
  const wantsKafka = options.kafka !== false && given.kafka === '';
  // Before anything is started: it is the part that may be missing on a machine.
  const distribution = wantsKafka ? await kafkaDistribution(log) : null;
  if (wantsPostgres || wantsKafka) await cleanOrphans(log);
  const [postgres, kafka] = await Promise.allSettled([
    wantsPostgres ? postgresOf(options) : asGiven<PostgresHandle>(given.database),
    distribution === null ? asGiven<KafkaHandle>(given.kafka) : kafkaOf(options, distribution),
  ]);
  if (postgres.status === 'fulfilled' && kafka.status === 'fulfilled') return asStack(postgres.value, kafka.value);
  for (const started of [kafka, postgres]) if (started.status === 'fulfilled') await started.value.handle?.stop();
  throw postgres.status === 'rejected' ? postgres.reason : (kafka as PromiseRejectedResult).reason;
}

async function postgresOf(options: StackOptions): Promise<Started<PostgresHandle>> {
  if (options.mode === 'persistent') {
    const { url, handle } = await openPostgres(join(dataDirectory(options), 'postgres'), logOf(options));
    return { address: url, handle };
  }
  const handle = await startPostgres(logOf(options));
  return { address: handle.url, handle };
}

async function kafkaOf(
  options: StackOptions,
  distribution: Awaited<ReturnType<typeof kafkaDistribution>>,
): Promise<Started<KafkaHandle>> {
  if (options.mode === 'persistent') {
    const { brokers, handle } = await openKafka(join(dataDirectory(options), 'kafka'), {
      ...logOf(options),
      distribution,
    });
    return { address: brokers, handle };
  }
  const handle = await startKafka({ ...logOf(options), distribution });
  return { address: handle.brokers, handle };
}

function asGiven<Handle>(address: string): Promise<Started<Handle>> {
  return Promise.resolve({ address, handle: null });
}

function dataDirectory(options: StackOptions): string {
  return options.dataDirectory ?? join(projectRoot, '.einmal');
}

function logOf(options: StackOptions): { log?: (line: string) => void } {
  return options.log === undefined ? {} : { log: options.log };
}

function asStack(postgres: Started<PostgresHandle>, kafka: Started<KafkaHandle>): Stack {
  const handles = [kafka.handle, postgres.handle].filter((handle) => handle !== null);
  return {
    databaseUrl: postgres.address,
    kafkaBrokers: kafka.address,
    ...(postgres.handle === null ? {} : { postgres: postgres.handle }),
    ...(kafka.handle === null ? {} : { kafka: kafka.handle }),
    unexpectedEnd: Promise.race(handles.map((handle) => handle.unexpectedEnd)),
    stop: async () => {
      for (const handle of handles) await handle.stop();
    },
  };
}
