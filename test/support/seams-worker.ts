import { Client, type ClientConfig } from 'pg';
import { DataSource } from 'typeorm';
import { providerSchemas } from '../../src/config/provider.schema.ts';
import { createDataSource } from '../../src/database/data-source.ts';
import type { Rate } from '../../src/dispatch/claim-operations.ts';
import { EventWriter } from '../../src/messaging/outbox/produced-event.ts';
import { createPostmarkProvider } from '../../src/providers/postmark/postmark.provider.ts';
import type { CallOutcome, LookupOutcome, Prepared, Provider } from '../../src/providers/provider.port.ts';
import { createResendProvider } from '../../src/providers/resend/resend.provider.ts';
import { createSmtpProvider } from '../../src/providers/smtp/smtp.provider.ts';
import { TenantDirectory } from '../../src/tenants/tenant-directory.ts';
import { createWorker, type Worker, type WorkerPlace } from './dispatch-worker.ts';
import type { Loss, SeamLine } from './seams.ts';
import { SINK_CREDENTIALS } from './sinks/api-sink.ts';

/** Where everything is, for this process and any other. */
export interface SeamPlace {
  readonly databaseUrl: string;
  readonly smtp: { readonly host: string; readonly port: number };
  readonly apiUrl: string;
}

/** One that knows nothing of a lost call, one that repeats its answer to a key, one that can be asked. */
export type SeamProvider = 'smtp' | 'resend' | 'postmark';

export interface SeamWorkerOptions {
  readonly provider: SeamProvider;
  readonly rate?: Rate;
}

/** A worker whose every wait goes through the line. */
export interface SeamWorker {
  readonly worker: Worker;
  /** Its connections: what is done by them is part of its road. */
  readonly dataSource: DataSource;
  readonly place: WorkerPlace;
  close(): Promise<void>;
}

export const SEAM_APPLICATION = 'einmal-seams';
const CONNECTIONS = 4;
const CALL_TIMEOUT_MS = 20_000;
/** Longer than any run: tests end leases by hand. */
const LEASE_SECONDS = 300;
const RECEIPT_WAIT_MS = 60_000;

export async function createSeamWorker(
  place: SeamPlace,
  options: SeamWorkerOptions,
  line: SeamLine,
): Promise<SeamWorker> {
  const dataSource = seamedDataSource(place.databaseUrl, line);
  await dataSource.initialize();
  const workerPlace = workerPlaceOf(place, dataSource);
  const worker = createWorker(workerPlace, {
    ...seamWorkerOptions(options),
    provider: seamedProvider(createSeamProvider(place, options.provider), line),
  });
  const close = async (): Promise<void> => {
    await worker.close();
    await dataSource.destroy();
  };
  return { worker, dataSource, place: workerPlace, close };
}

/** The same settings for the worker under test and those who go on after it. */
export function seamWorkerOptions({ rate }: SeamWorkerOptions) {
  return { leaseSeconds: LEASE_SECONDS, timeoutMs: CALL_TIMEOUT_MS, ...(rate ? { rate } : {}) };
}

export function createSeamProvider({ smtp, apiUrl }: SeamPlace, kind: SeamProvider): Provider {
  const api = { baseUrl: apiUrl, allowPrivate: true, connections: CONNECTIONS, receiptWaitSeconds: null };
  const timeoutSeconds = CALL_TIMEOUT_MS / 1000;
  const providerName = 'main';
  const { apiKey } = SINK_CREDENTIALS;
  switch (kind) {
    case 'smtp':
      return createSmtpProvider({
        name: providerName,
        ...smtp,
        security: 'none',
        connections: CONNECTIONS,
        timeoutMs: CALL_TIMEOUT_MS,
        receiptWaitMs: RECEIPT_WAIT_MS,
      });
    case 'resend':
      return createResendProvider({
        providerName,
        ...providerSchemas.resend.parse({ kind, apiKey, timeoutSeconds, ...api }),
      });
    case 'postmark':
      return createPostmarkProvider({
        providerName,
        ...providerSchemas.postmark.parse({ kind, serverToken: apiKey, timeoutSeconds, ...api }),
      });
  }
}

function workerPlaceOf({ smtp }: SeamPlace, dataSource: DataSource): WorkerPlace {
  return {
    dataSource,
    events: new EventWriter('rig.'),
    outbox: { buckets: 4, maxMessageBytes: 983_040 },
    tenants: new TenantDirectory({ tenants: { demo: DEMO } }),
    sink: smtp,
  };
}

const DEMO = {
  id: 'demo',
  tokens: [],
  senders: ['news@einmal.example', 'example.org'],
  provider: 'main',
  providers: ['main'],
  keyRetentionDays: 400,
  payloadRetentionDays: 30,
  afterKeyRetention: 'tombstone',
  onUnknown: 'hold',
} as const;

function seamedDataSource(url: string, line: SeamLine): DataSource {
  const { options } = createDataSource({ url, poolSize: CONNECTIONS, applicationName: SEAM_APPLICATION });
  const extra: unknown = options.extra;
  // The pool makes its connections of this class, so that those of the rig in the same process are left alone.
  return new DataSource({ ...options, extra: { ...(extra as object), Client: seamedClient(line) } });
}

function seamedClient(line: SeamLine): typeof Client {
  return class extends Client {
    constructor(config?: string | ClientConfig) {
      super(config);
      const query: unknown = Reflect.get(this, 'query');
      const send = (words: readonly unknown[]): unknown => Reflect.apply(query as () => unknown, this, words);
      Object.defineProperty(this, 'query', {
        value: (...words: readonly unknown[]): unknown => {
          // By a callback the driver asks for what it needs itself, before the worker begins.
          if (typeof words.at(-1) === 'function') return send(words);
          return line.pass(
            kindOf(words[0]),
            async () => await (send(words) as Promise<unknown>),
            brokenConnection(this),
          );
        },
      });
    }
  };
}

/** `commit-intents` of a statement that has a name, the first word in capitals of others. */
function kindOf(query: unknown): string {
  if (typeof query === 'string') return query.startsWith('START') ? 'BEGIN' : (query.split(' ')[0] ?? '').toUpperCase();
  const name: unknown = typeof query === 'object' && query !== null && 'name' in query ? query.name : '';
  return /([^/]+)\.sq/.exec(String(name))?.[1] ?? String(name);
}

/** The socket is destroyed as well: the server ends what was open there, and the pool makes a new connection. */
function brokenConnection(client: Client): Loss<unknown> {
  const breakIt = (): never => {
    client.connection.stream.destroy();
    throw Object.assign(new Error('the connection was cut'), { code: 'ECONNRESET' });
  };
  return { before: breakIt, after: breakIt };
}

function seamedProvider(provider: Provider, line: SeamLine): Provider {
  const seamed: Provider = {
    ...pick(provider),
    prepare: (outgoing, shape): Prepared => {
      const prepared = provider.prepare(outgoing, shape);
      if (!prepared.ok) return prepared;
      const { hash, send } = prepared.call;
      return {
        ok: true,
        call: { hash, send: async (timeoutMs) => await call(line, async () => await send(timeoutMs)) },
      };
    },
    close: async () => await provider.close(),
  };
  if (provider.abilities.lookup.kind === 'none') return seamed;
  return { ...seamed, lookup: async (query, timeoutMs) => await ask(line, async () => await lookUp(query, timeoutMs)) };

  async function lookUp(...words: Parameters<NonNullable<Provider['lookup']>>): Promise<LookupOutcome> {
    return (await provider.lookup?.(...words)) ?? { kind: 'failed', retryAfterMs: null, ...LOST };
  }
}

function pick({ name, abilities, concurrency, account, shape }: Provider) {
  return { name, abilities, concurrency, account, shape };
}

/** Kinds of waits that are struck a second time: there by an error, though a provider never throws. */
export const THROWING = 'throwing ';

const LOST = { code: 'ECONNRESET', diagnostic: 'the connection was cut' };
const LOST_CALL: Loss<CallOutcome> = {
  before: () => ({ kind: 'not-sent', ...LOST }),
  after: () => ({ kind: 'ambiguous', ...LOST }),
};
const LOST_LOOKUP: Loss<LookupOutcome> = {
  before: () => ({ kind: 'failed', retryAfterMs: null, ...LOST }),
  after: () => ({ kind: 'failed', retryAfterMs: null, ...LOST }),
};
const THROWS: Loss<never> = {
  before: () => throwIt(),
  after: () => throwIt(),
};

function throwIt(): never {
  throw new Error('a provider that breaks its contract');
}

async function call(line: SeamLine, send: () => Promise<CallOutcome>): Promise<CallOutcome> {
  return await line.pass(`${THROWING}call`, async () => await line.pass('call', send, LOST_CALL), THROWS);
}

async function ask(line: SeamLine, look: () => Promise<LookupOutcome>): Promise<LookupOutcome> {
  return await line.pass(`${THROWING}lookup`, async () => await line.pass('lookup', look, LOST_LOOKUP), THROWS);
}
