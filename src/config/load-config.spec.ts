import { describe, expect, it } from 'vitest';
import type { ConfigError } from './config-error.ts';
import { loadConfig } from './load-config.ts';

const HASH = 'a'.repeat(64);

const ENV = {
  DATABASE_URL: 'postgres://einmal:db-secret@localhost:5432/einmal',
  KAFKA_BROKERS: 'localhost:9092',
};

const FILE = `
tenants:
  acme:
    tokens:
      - name: ci
        sha256: ${HASH}
        scopes: [read]
    senders: [acme.example]
    provider: main
providers:
  main:
    kind: smtp
    host: smtp.acme.example
    port: 587
`;

const load = (file: string, env: Record<string, string> = {}) =>
  loadConfig({ env: { ...ENV, ...env }, readFile: () => file });

function errorsOf(file: string, env: Record<string, string> = {}): readonly ConfigError[] {
  const loaded = load(file, env);
  return loaded.ok ? [] : loaded.errors;
}
const short = (errors: readonly ConfigError[]) => errors.map(({ path, rule, line }) => [path, rule, line]);

function configOf(file: string, env: Record<string, string> = {}) {
  const loaded = load(file, env);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded.config;
}

function noSuchFile(): string {
  throw Object.assign(new Error('x'), { code: 'ENOENT' });
}

/** FILE with one piece replaced, which must be there. */
function changed(from: string, to: string): string {
  expect(FILE).toContain(from);
  return FILE.replace(from, to);
}

describe('loadConfig', () => {
  it('gives every default', () => {
    expect(configOf(FILE)).toEqual({
      process: {
        roles: ['api', 'consumer', 'relay', 'dispatcher', 'maintenance'],
        port: 8080,
        logLevel: 'info',
        shutdownSeconds: 30,
        faults: [],
      },
      database: { url: ENV.DATABASE_URL, poolSize: 20 },
      kafka: { brokers: ['localhost:9092'], topicPrefix: 'einmal.', ssl: false, sasl: null },
      tenants: {
        acme: {
          id: 'acme',
          tokens: [
            { name: 'ci', sha256: HASH, scopes: ['read'], rate: { perSecond: 100, burst: 200 }, expiresAt: null },
          ],
          senders: ['acme.example'],
          provider: 'main',
          providers: ['main'],
          keyRetentionDays: 400,
          payloadRetentionDays: 30,
          afterKeyRetention: 'tombstone',
          onUnknown: 'hold',
        },
      },
      providers: {
        main: {
          providerName: 'main',
          kind: 'smtp',
          host: 'smtp.acme.example',
          port: 587,
          security: 'starttls',
          auth: null,
          connections: 20,
          rate: null,
          timeoutSeconds: 60,
          receiptWaitSeconds: 86_400,
          name: null,
        },
      },
      dispatch: {
        leaseSeconds: 90,
        claimBatch: 20,
        claimBatchMax: 500,
        maxAttempts: 12,
        maxThrottles: 1000,
        maxCrashes: 10,
        retryBaseSeconds: 1,
        retryCapSeconds: 300,
        accountPauseSeconds: 60,
        rescueSeconds: 5,
        pollMinMs: 20,
        pollMaxMs: 1000,
      },
      messaging: {
        createTopics: true,
        partitions: 6,
        replicationFactor: 1,
        topicRetentionDays: 7,
        inboxRetentionDays: 14,
        chunkSize: 500,
        maxRecordBytes: 1_048_576,
        maxJsonDepth: 64,
        sessionTimeoutSeconds: 30,
        rebalanceTimeoutSeconds: 60,
        progressTimeoutSeconds: 120,
      },
      outbox: { buckets: 16, leaseSeconds: 30, batchSize: 500, pollMinMs: 10, pollMaxMs: 500 },
      retention: { deadLetterDays: 90, sweepMinutes: 10, sweepBatch: 1000 },
      campaigns: { pageSize: 1000 },
    });
  });

  it('is frozen to its depths and finds nothing under inherited names', () => {
    const config = configOf(FILE);
    const seen: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) seen.push(path);
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`);
    };
    visit(config, 'config');
    expect(seen).toEqual([]);
    expect(config.tenants['constructor']).toBeUndefined();
    expect(config.providers['toString']).toBeUndefined();
  });

  it('tells all mistakes of the environment and the file at once, each with its line', () => {
    const file = FILE.replace('provider: main', 'provder: main')
      .replace('port: 587', 'port: 70000')
      .replace('[read]', '[reed]')
      .concat('dispatch:\n  leaseSecond: 5\n  claimBatch: many\noutbx: {}\n');
    const errors = errorsOf(file, { PORT: 'http', EINMAL_ROLE: 'api', KAFKA_BROKERS: '' });
    expect(errors.map(({ source, path, rule, nearest, line }) => [source, path, rule, nearest, line])).toEqual([
      ['environment', 'KAFKA_BROKERS', 'required', null, null],
      ['environment', 'PORT', 'wrong-form', null, null],
      ['environment', 'EINMAL_ROLE', 'unknown-key', 'EINMAL_ROLES', null],
      ['file', 'outbx', 'unknown-key', 'outbox', 18],
      ['file', 'tenants.acme.tokens[0].scopes[0]', 'out-of-range', null, 7],
      ['file', 'tenants.acme.provider', 'required', null, 3],
      ['file', 'tenants.acme.provder', 'unknown-key', 'provider', 9],
      ['file', 'providers.main.port', 'out-of-range', null, 14],
      ['file', 'dispatch.claimBatch', 'wrong-type', null, 17],
      ['file', 'dispatch.leaseSecond', 'unknown-key', 'leaseSeconds', 16],
    ]);
  });

  it('says so when the file cannot be read, and tells the rest all the same', () => {
    const loaded = loadConfig({ env: { EINMAL_CONFIG: '/etc/nowhere.yaml' }, readFile: noSuchFile });
    expect(loaded).toMatchObject({ ok: false, fileName: '/etc/nowhere.yaml' });
    expect(loaded.ok ? [] : short(loaded.errors)).toEqual([
      ['DATABASE_URL', 'required', null],
      ['KAFKA_BROKERS', 'required', null],
      ['', 'unreadable', null],
    ]);
  });

  it('reads a real file by default', () => {
    expect(loadConfig({ env: { ...ENV, EINMAL_CONFIG: '/nowhere/einmal.yaml' } })).toMatchObject({
      ok: false,
      errors: [{ rule: 'unreadable', message: expect.stringContaining('ENOENT') }],
    });
  });
});

describe('the environment', () => {
  it.each<[Record<string, string>, string, string]>([
    [{ DATABASE_URL: 'mysql://u:hunter2@h/d' }, 'DATABASE_URL', 'wrong-form'],
    [{ DATABASE_URL: 'postgres://hunter2' }, 'DATABASE_URL', 'wrong-form'],
    [{ KAFKA_BROKERS: 'hunter2' }, 'KAFKA_BROKERS', 'wrong-form'],
    [{ KAFKA_BROKERS: 'a:9092,b:99999' }, 'KAFKA_BROKERS', 'wrong-form'],
    [{ KAFKA_BROKERS: ' , ' }, 'KAFKA_BROKERS', 'wrong-form'],
    [{ EINMAL_ROLES: 'api,hunter2' }, 'EINMAL_ROLES', 'wrong-form'],
    [{ EINMAL_ROLES: ',' }, 'EINMAL_ROLES', 'wrong-form'],
    [{ EINMAL_TOPIC_PREFIX: 'hunter2/' }, 'EINMAL_TOPIC_PREFIX', 'wrong-form'],
    [{ PORT: '65536' }, 'PORT', 'out-of-range'],
    [{ PORT: '-1' }, 'PORT', 'wrong-form'],
    [{ PORT: '1e3' }, 'PORT', 'wrong-form'],
    [{ LOG_LEVEL: 'hunter2' }, 'LOG_LEVEL', 'out-of-range'],
    [{ KAFKA_SSL: 'hunter2' }, 'KAFKA_SSL', 'out-of-range'],
    [{ DATABASE_POOL_SIZE: '0' }, 'DATABASE_POOL_SIZE', 'out-of-range'],
    [{ EINMAL_SHUTDOWN_SECONDS: '3.5' }, 'EINMAL_SHUTDOWN_SECONDS', 'wrong-form'],
    [{ EINMAL_FAULT: 'hunter2', NODE_ENV: 'test' }, 'EINMAL_FAULT', 'wrong-form'],
    [{ EINMAL_FAULT: 'a.b:exit' }, 'EINMAL_FAULT', 'contradiction'],
    [{ EINMAL_FAULT: 'a.b:exit', NODE_ENV: 'production' }, 'EINMAL_FAULT', 'contradiction'],
    [{ EINMAL_XYZ: 'hunter2' }, 'EINMAL_XYZ', 'unknown-key'],
  ])('refuses %j', (env, path, rule) => {
    const errors = errorsOf(FILE, env);
    expect(errors.map((error) => [error.source, error.path, error.rule])).toEqual([['environment', path, rule]]);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });

  it('wants the whole SASL login or nothing of it', () => {
    const login = { KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    expect(short(errorsOf(FILE, login))).toEqual([['KAFKA_SASL_MECHANISM', 'required', null]]);
    const config = configOf(FILE, { ...login, KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SSL: 'true' });
    expect(config.kafka).toMatchObject({
      ssl: true,
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
    });
  });

  it('takes lists, faults under test, and empty values as not set', () => {
    const config = configOf(FILE, {
      EINMAL_ROLES: 'api, relay,api',
      KAFKA_BROKERS: 'a:1, [::1]:9092',
      EINMAL_TOPIC_PREFIX: 't1.',
      EINMAL_FAULT: 'a.b:exit:2',
      NODE_ENV: 'test',
      PORT: '',
      EINMAL_UNSET: '',
    });
    expect(config.process).toMatchObject({ roles: ['api', 'relay'], port: 8080 });
    expect(config.process.faults).toEqual([{ point: 'a.b', action: 'exit', nth: 2 }]);
    expect(config.kafka).toMatchObject({ brokers: ['a:1', '[::1]:9092'], topicPrefix: 't1.' });
  });
});

describe('${NAME} in the file', () => {
  const withAuth = changed('port: 587', 'port: ${SMTP_PORT}\n    auth: { user: u, password: "${SMTP_PASSWORD}" }');

  it('is filled, also where a number is wanted', () => {
    const { main } = configOf(withAuth, { SMTP_PORT: '2525', SMTP_PASSWORD: '12345' }).providers;
    expect(main).toMatchObject({ port: 2525, auth: { password: '12345' } });
  });

  it('tells all missing variables at once and nothing more about them', () => {
    const errors = errorsOf(withAuth);
    expect(short(errors)).toEqual([
      ['providers.main.port', 'missing-variable', 14],
      ['providers.main.auth.password', 'missing-variable', 15],
    ]);
    expect(errors.map(({ message }) => message).join()).toMatch(/SMTP_PORT.*SMTP_PASSWORD/);
  });

  it('never shows what it was filled with', () => {
    const errors = errorsOf(withAuth, { SMTP_PORT: 'hunter2', SMTP_PASSWORD: 'hunter3\n' });
    expect(short(errors)).toEqual([
      ['providers.main.port', 'wrong-type', 14],
      ['providers.main.auth.password', 'wrong-form', 15],
    ]);
    expect(JSON.stringify(errors)).not.toContain('hunter');
  });

  it('has a text for when the variable is not set, and an escape', () => {
    const file = withAuth
      .replace('${SMTP_PORT}', '${SMTP_PORT:-2526}')
      .replace('${SMTP_PASSWORD}', () => '$${x}${A:-}y');
    expect(configOf(file).providers['main']).toMatchObject({ port: 2526, auth: { password: '${x}y' } });
    expect(configOf(file, { A: '${B}' }).providers['main']).toMatchObject({ auth: { password: '${x}${B}y' } });
  });

  it.each(['${', '${a b}', '${A:?x}', '${A'])('refuses %j', (text) => {
    const file = changed('smtp.acme.example', `'${text}'`);
    expect(short(errorsOf(file))).toEqual([['providers.main.host', 'wrong-form', 13]]);
  });

  it('does not take inherited names for variables', () => {
    expect(short(errorsOf(changed('smtp.acme.example', '${constructor}')))).toEqual([
      ['providers.main.host', 'missing-variable', 13],
    ]);
  });
});
