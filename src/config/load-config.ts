import { readFileSync, statSync } from 'node:fs';
import type { ConfigError, FoundError } from './config-error.ts';
import { formatPath } from './config-error.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { EinmalConfig, SaslConfig } from './einmal-config.ts';
import { type Environment, environmentValue } from './env.ts';
import type { EnvironmentValues } from './environment.schema.ts';
import type { FileParts } from './file-parts.ts';
import { readConfigFile } from './read-config-file.ts';
import { readEnvironmentValues } from './read-environment-values.ts';
import { MAX_FILE_BYTES } from './read-yaml.ts';
import { errorCode, ServiceError } from '../runtime/service-error.ts';

export const DEFAULT_CONFIG_FILE = 'einmal.yaml';

export interface LoadConfigOptions {
  readonly env: Environment;
  /** Gives the text of the file or throws; default readTextFile(). */
  readonly readFile?: (path: string) => string;
}

export type LoadedConfig =
  | { readonly ok: true; readonly config: EinmalConfig; readonly fileName: string }
  | { readonly ok: false; readonly errors: readonly ConfigError[]; readonly fileName: string };

/** The environment and einmal.yaml as one deep-frozen object, or everything that is wrong with both, at once. */
export function loadConfig({ env, readFile = readTextFile }: LoadConfigOptions): LoadedConfig {
  const fileName = environmentValue(env, 'EINMAL_CONFIG') ?? DEFAULT_CONFIG_FILE;
  const environment = readEnvironmentValues(env);
  const file = tryReadFile(fileName, env, readFile);
  const errors = [...environment.errors.map(ofEnvironment), ...file.errors];
  if (environment.values === null || file.parts === null || errors.length > 0) return { ok: false, errors, fileName };
  return { ok: true, config: deepFreeze(assemble(environment.values, file.parts)), fileName };
}

/** The whole file as UTF-8; one that is too large is refused before it is read. */
export function readTextFile(path: string): string {
  if (statSync(path).size > MAX_FILE_BYTES) {
    throw new ServiceError('file-too-large', `is larger than ${MAX_FILE_BYTES} bytes`, { retryable: false });
  }
  return readFileSync(path, 'utf8');
}

function tryReadFile(
  fileName: string,
  env: Environment,
  readFile: (path: string) => string,
): { parts: FileParts | null; errors: readonly ConfigError[] } {
  try {
    return readConfigFile(readFile(fileName), env);
  } catch (error) {
    const message = `cannot be read (${errorCode(error)}); EINMAL_CONFIG names the file`;
    return {
      parts: null,
      errors: [{ source: 'file', path: '', rule: 'unreadable', message, nearest: null, line: null }],
    };
  }
}

function ofEnvironment({ path, rule, message, nearest = null }: FoundError): ConfigError {
  return { source: 'environment', path: formatPath(path), rule, message, nearest, line: null };
}

function assemble(values: EnvironmentValues, { tenants, providers, sections }: FileParts): EinmalConfig {
  const { dispatch, messaging, outbox, retention, campaigns } = sections;
  if (!dispatch || !messaging || !outbox || !retention || !campaigns) {
    throw new ServiceError('config-incomplete', 'a section is missing although no error was found', {
      retryable: false,
    });
  }
  return {
    process: {
      roles: values.EINMAL_ROLES,
      port: values.PORT,
      logLevel: values.LOG_LEVEL,
      shutdownSeconds: values.EINMAL_SHUTDOWN_SECONDS,
      faults: values.EINMAL_FAULT,
    },
    database: { url: values.DATABASE_URL, poolSize: values.DATABASE_POOL_SIZE },
    kafka: {
      brokers: values.KAFKA_BROKERS,
      topicPrefix: values.EINMAL_TOPIC_PREFIX,
      ssl: values.KAFKA_SSL,
      sasl: saslOf(values),
    },
    tenants: withoutPrototype(tenants),
    providers: withoutPrototype(providers),
    dispatch,
    messaging,
    outbox,
    retention,
    campaigns,
  };
}

function saslOf(values: EnvironmentValues): SaslConfig | null {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = values;
  return mechanism && username && password ? { mechanism, username, password } : null;
}

/** Tenant ids come from messages: `constructor` must find nothing. */
function withoutPrototype<T>(entries: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));
}
