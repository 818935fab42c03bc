import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Lane, Rate } from '../../src/dispatch/claim-operations.ts';
import { Composer } from '../../src/dispatch/compose.ts';
import type { DispatchObserver } from '../../src/dispatch/dispatch-observer.ts';
import { DispatchPipeline } from '../../src/dispatch/dispatch.pipeline.ts';
import { ProviderLane } from '../../src/dispatch/provider-lane.ts';
import { ProviderStops } from '../../src/dispatch/provider-stops.ts';
import { Canaries } from '../../src/dispatch/resolve/canaries.ts';
import { ResolvePipeline } from '../../src/dispatch/resolve/resolve.pipeline.ts';
import type { Abilities } from '../../src/providers/abilities.ts';
import type { EventWriter } from '../../src/messaging/outbox/produced-event.ts';
import type { Logger, LogFields } from '../../src/observability/logger.ts';
import type {
  CallOutcome,
  LookupOutcome,
  LookupQuery,
  Outgoing,
  OutgoingMail,
  Prepared,
  Provider,
  Shape,
} from '../../src/providers/provider.port.ts';
import { createSmtpProvider } from '../../src/providers/smtp/smtp.provider.ts';
import type { TenantDirectory } from '../../src/tenants/tenant-directory.ts';
import { eventually } from './eventually.ts';

export interface WorkerOptions {
  /** Instead of SMTP to the sink. */
  readonly provider?: Provider;
  /** Further providers, each with a lane of its own name. */
  readonly endpoints?: readonly Provider[];
  readonly tenants?: readonly string[];
  readonly leaseSeconds?: number;
  readonly timeoutMs?: number;
  readonly connections?: number;
  readonly claimBatch?: number;
  readonly claimBatchMax?: number;
  readonly accountPauseSeconds?: number;
  readonly rate?: Rate;
  readonly maxThrottles?: number;
}

/** A dispatcher in this process, driven by hand, with what it said and counted. */
export interface Worker {
  readonly pipeline: DispatchPipeline;
  readonly resolver: ResolvePipeline;
  readonly canaries: Canaries;
  readonly lane: ProviderLane;
  readonly claimLost: ('commit-intents' | 'record' | 'resolve')[];
  readonly notCalled: string[];
  readonly recorded: CallOutcome['kind'][];
  readonly called: CallOutcome['kind'][];
  readonly logs: { readonly event: string; readonly fields: LogFields }[];
  /** Claims again and again until `probe` says true. */
  workUntil(what: string, probe: () => Promise<boolean> | boolean, deadlineMs?: number): Promise<void>;
  /** One look at what is unknown, each step to its end. */
  resolveOnce(): Promise<void>;
  close(): Promise<void>;
}

export const NO_ABILITIES: Abilities = {
  key: { kind: 'none' },
  lookup: { kind: 'none' },
  receipt: { kind: 'none' },
  batch: { kind: 'none' },
  limits: { maxBytes: 1_000_000 },
};

type Answer = (mail: OutgoingMail, nth: number) => CallOutcome | Promise<CallOutcome>;

/** Answers calls and lookups as it is told and remembers them. */
export class ScriptedProvider implements Provider {
  readonly name: string = 'main';
  readonly concurrency: number;
  readonly abilities: Abilities;
  account = 'account-1';
  shape: Shape = null;
  readonly calls: OutgoingMail[] = [];
  /** What was sent, hashed, by call. */
  readonly hashes: string[] = [];
  readonly lookups: LookupQuery[] = [];
  answerLookup: (query: LookupQuery, nth: number) => LookupOutcome | Promise<LookupOutcome> = () => MISS;
  readonly #answer: Answer;

  constructor(answer: Answer = () => ACCEPTED, concurrency = 4, abilities: Partial<Abilities> = {}) {
    this.#answer = answer;
    this.concurrency = concurrency;
    this.abilities = { ...NO_ABILITIES, ...abilities };
  }

  prepare(outgoing: Outgoing, shape: Shape): Prepared {
    if (outgoing.kind !== 'email') return { ok: false, rule: 'kind: takes mails only' };
    const hash = createHash('sha256').update(outgoing.raw()).update(JSON.stringify(shape)).digest();
    return { ok: true, call: { hash, send: async () => await this.#send(outgoing, hash) } };
  }

  async lookup(query: LookupQuery): Promise<LookupOutcome> {
    this.lookups.push(query);
    return await this.answerLookup(query, this.lookups.length);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #send(mail: OutgoingMail, hash: Buffer): Promise<CallOutcome> {
    this.calls.push(mail);
    this.hashes.push(hash.toString('hex'));
    return await this.#answer(mail, this.calls.length);
  }
}

export const MISS: LookupOutcome = { kind: 'miss', code: 'http-200', diagnostic: 'nothing found' };
export const ACCEPTED: CallOutcome = { kind: 'accepted', effectId: 'effect', code: 'smtp-250', diagnostic: 'ok' };

export interface WorkerPlace {
  readonly dataSource: DataSource;
  readonly events: EventWriter;
  readonly tenants: TenantDirectory;
  readonly outbox: { readonly buckets: number; readonly maxMessageBytes: number };
  readonly sink: { readonly host: string; readonly port: number };
}

export function createWorker(place: WorkerPlace, options: WorkerOptions): Worker {
  const timeoutMs = options.timeoutMs ?? 2_000;
  const provider = options.provider ?? smtpTo(place.sink, options.connections ?? 4, timeoutMs);
  const lane = new ProviderLane(provider, {
    claimBatch: options.claimBatch ?? 20,
    claimBatchMax: options.claimBatchMax ?? 500,
  });
  const seen = { claimLost: [], notCalled: [], recorded: [], called: [], logs: [] } as Pick<
    Worker,
    'claimLost' | 'notCalled' | 'recorded' | 'called' | 'logs'
  >;
  const endpoints = options.endpoints ?? [];
  const names = ['main', ...endpoints.map(({ name }) => name)];
  const lanes: Lane[] = (options.tenants ?? ['demo']).flatMap((tenantId) =>
    names.map((name) => ({ tenantId, provider: name })),
  );
  const further = endpoints.map((each): [string, ProviderLane] => [
    each.name,
    new ProviderLane(each, { claimBatch: 20, claimBatchMax: 500 }),
  ]);
  const { dataSource, events, tenants, outbox } = place;
  const composer = new Composer(dataSource, tenants);
  const leaseSeconds = options.leaseSeconds ?? 60;
  const logger = loggerTo(seen.logs);
  const stopSettings = { pauseSeconds: options.accountPauseSeconds ?? 60, probeSeconds: leaseSeconds };
  const stops = new ProviderStops(dataSource, events, outbox, lanes, stopSettings, logger);
  const shared = {
    dataSource,
    events,
    composer,
    providers: new Map([['main', lane], ...further]),
    stops,
    canaries: new Canaries(),
    logger,
  };
  const settings = { leaseSeconds, callTimeoutMs: new Map(names.map((name) => [name, timeoutMs])), outbox };
  const observer = observerOf(seen);
  const resolver = new ResolvePipeline(shared, settings, observer);
  const pipeline = new DispatchPipeline(
    { ...shared, lanes, wake: () => undefined },
    {
      ...settings,
      rates: options.rate ? new Map([['main', options.rate]]) : new Map(),
      maxThrottles: options.maxThrottles ?? 1000,
      retry: { baseMs: 50, capMs: 200 },
    },
    observer,
  );
  return {
    ...seen,
    pipeline,
    resolver,
    canaries: shared.canaries,
    lane,
    resolveOnce: async () => {
      await resolver.runOnce();
      await resolver.settled();
    },
    workUntil: async (what, probe, deadlineMs = 20_000) => {
      await eventually(what, deadlineMs, async () => {
        await pipeline.runOnce();
        return await probe();
      });
    },
    close: async () => {
      await Promise.all([pipeline.stop(), resolver.stop()]);
      await Promise.all([provider, ...endpoints].map(async (each) => await each.close()));
    },
  };
}

function smtpTo(sink: { host: string; port: number }, connections: number, timeoutMs: number): Provider {
  return createSmtpProvider({
    name: 'main',
    host: sink.host,
    port: sink.port,
    security: 'none',
    connections,
    timeoutMs,
  });
}

function observerOf(seen: Pick<Worker, 'claimLost' | 'notCalled' | 'recorded' | 'called'>): DispatchObserver {
  return {
    claimed: () => undefined,
    called: (_provider, result) => void seen.called.push(result.kind),
    recorded: (result) => void seen.recorded.push(result.kind),
    notCalled: (why) => void seen.notCalled.push(why),
    rescued: () => undefined,
    claimLost: (step) => void seen.claimLost.push(step),
    resolved: () => undefined,
  };
}

export function loggerTo(logs: { event: string; fields: LogFields }[]): Logger {
  const say = (event: string, fields: LogFields = {}): void => void logs.push({ event, fields });
  const logger: Logger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  return logger;
}
