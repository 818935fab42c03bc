import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createDatabase } from './database.ts';
import { migrateUp } from './migrate-up.ts';
import { createPeer, type Peer } from './peer.ts';
import { startService, type Role, type ServiceProcess } from './service.ts';
import { spawnSmtpSink, type SmtpSink, type SmtpSinkOptions } from './sinks/smtp-sink.ts';

export interface WorldOptions {
  /** An administrator's URL of a PostgreSQL and the addresses of a broker, shared with other tests. */
  readonly databaseUrl: string;
  readonly kafkaBrokers: string;
  /** Parts of einmal.yaml, laid over the usual ones. */
  readonly config?: ConfigParts;
  readonly sink?: SmtpSinkOptions;
  /** Keeps database and logs when the world is torn down. */
  readonly keep?: () => boolean;
}

export interface ConfigParts {
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly dispatch?: Readonly<Record<string, unknown>>;
  readonly messaging?: Readonly<Record<string, unknown>>;
  readonly outbox?: Readonly<Record<string, unknown>>;
  readonly campaigns?: Readonly<Record<string, unknown>>;
  readonly tenants?: Readonly<Record<string, unknown>>;
}

/** A database, topics, a mail sink and a peer of one's own, and service processes against them. */
export interface World {
  readonly databaseUrl: string;
  readonly kafkaBrokers: string;
  readonly topicPrefix: string;
  readonly configFile: string;
  /** One file with the output of all service processes. */
  readonly logFile: string;
  readonly sink: SmtpSink;
  readonly peer: Peer;
  start(roles?: readonly Role[], env?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** GET under the tenant's token; the parsed body, or null when it is not there. */
  get(service: ServiceProcess, path: string): Promise<Record<string, unknown> | null>;
  tearDown(): Promise<void>;
}

export const DEMO_TOKEN = 'einmal-demo-token';
const DEMO_TOKEN_SHA256 = '120627e3187dca0813da91aa00483907f30806afdacaae951b558d5a29913492';

export async function createWorld(options: WorldOptions): Promise<World> {
  const database = await createDatabase(options.databaseUrl);
  await migrateUp(database.url);
  const sink = await spawnSmtpSink(options.sink);
  const topicPrefix = `t${randomBytes(4).toString('hex')}.`;
  const folder = await mkdtemp(join(tmpdir(), 'einmal-world-'));
  const configFile = join(folder, 'einmal.yaml');
  const logFile = join(folder, 'service.log');
  await writeFile(configFile, configText(sink, options.config ?? {}));
  const peer = await createPeer(options.kafkaBrokers, topicPrefix);
  const services: ServiceProcess[] = [];
  const place = { databaseUrl: database.url, kafkaBrokers: options.kafkaBrokers, topicPrefix, configFile, logFile };

  return {
    ...place,
    sink,
    peer,
    start: async (roles, env) => {
      const service = await startService({ ...place, ...(roles ? { roles } : {}), ...(env ? { env } : {}) });
      services.push(service);
      return service;
    },
    get: async (service, path) => {
      const response = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${DEMO_TOKEN}` } });
      if (response.status === 404) return null;
      if (!response.ok) throw new Error(`GET ${path} answered ${response.status}`);
      return (await response.json()) as Record<string, unknown>;
    },
    tearDown: async () => {
      await Promise.all(services.filter((service) => !service.hasEnded()).map((service) => service.kill()));
      await peer.close();
      await sink.stop();
      if (options.keep?.()) {
        console.error(`kept: ${database.url} and ${folder}`);
        return;
      }
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configText(sink: SmtpSink, parts: ConfigParts): string {
  return stringify({
    tenants: {
      demo: {
        tokens: [{ name: 'demo', sha256: DEMO_TOKEN_SHA256, scopes: ['read', 'request', 'operate'] }],
        senders: ['news@einmal.example', 'example.org'],
        provider: 'main',
      },
      ...parts.tenants,
    },
    providers: {
      main: { kind: 'smtp', host: sink.host, port: sink.port, security: 'none', timeoutSeconds: 5, ...parts.provider },
    },
    dispatch: { leaseSeconds: 20, rescueSeconds: 1, ...parts.dispatch },
    ...(parts.messaging ? { messaging: parts.messaging } : {}),
    ...(parts.outbox ? { outbox: parts.outbox } : {}),
    ...(parts.campaigns ? { campaigns: parts.campaigns } : {}),
  });
}
