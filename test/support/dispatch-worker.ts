import type { DataSource } from 'typeorm';
import type { Lane, Rate } from '../../src/dispatch/claim-operations.ts';
import { MailComposer } from '../../src/dispatch/compose-mail.ts';
import type { DispatchObserver } from '../../src/dispatch/dispatch-observer.ts';
import { DispatchPipeline } from '../../src/dispatch/dispatch.pipeline.ts';
import { ProviderLane } from '../../src/dispatch/provider-lane.ts';
import type { EventWriter } from '../../src/messaging/outbox/produced-event.ts';
import type { Logger, LogFields } from '../../src/observability/logger.ts';
import type { DeliveryResult, MailProvider, OutgoingMail } from '../../src/providers/provider.port.ts';
import { createSmtpProvider } from '../../src/providers/smtp/smtp.provider.ts';
import type { TenantDirectory } from '../../src/tenants/tenant-directory.ts';
import { eventually } from './eventually.ts';

export interface WorkerOptions {
  /** Instead of SMTP to the sink. */
  readonly provider?: MailProvider;
  readonly tenants?: readonly string[];
  readonly leaseSeconds?: number;
  readonly timeoutMs?: number;
  readonly connections?: number;
  readonly claimBatch?: number;
  readonly claimBatchMax?: number;
  readonly accountPauseMs?: number;
  readonly rate?: Rate;
}

/** A dispatcher in this process, driven by hand, with what it said and counted. */
export interface Worker {
  readonly pipeline: DispatchPipeline;
  readonly lane: ProviderLane;
  readonly claimLost: ('commit-intents' | 'record')[];
  readonly notCalled: string[];
  readonly recorded: DeliveryResult['kind'][];
  readonly called: DeliveryResult['kind'][];
  readonly logs: { readonly event: string; readonly fields: LogFields }[];
  /** Claims again and again until `probe` says true. */
  workUntil(what: string, probe: () => Promise<boolean> | boolean, deadlineMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Answers calls as it is told and remembers them. */
export class ScriptedProvider implements MailProvider {
  readonly name = 'main';
  readonly concurrency: number;
  readonly calls: OutgoingMail[] = [];
  readonly #answer: (mail: OutgoingMail, nth: number) => DeliveryResult | Promise<DeliveryResult>;

  constructor(
    answer: (mail: OutgoingMail, nth: number) => DeliveryResult | Promise<DeliveryResult> = () => ACCEPTED,
    concurrency = 4,
  ) {
    this.#answer = answer;
    this.concurrency = concurrency;
  }

  async deliver(mail: OutgoingMail): Promise<DeliveryResult> {
    this.calls.push(mail);
    return await this.#answer(mail, this.calls.length);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export const ACCEPTED: DeliveryResult = { kind: 'accepted', effectId: 'effect', code: 'smtp-250', diagnostic: 'ok' };

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
    accountPauseMs: options.accountPauseMs ?? 60_000,
  });
  const seen = { claimLost: [], notCalled: [], recorded: [], called: [], logs: [] } as Pick<
    Worker,
    'claimLost' | 'notCalled' | 'recorded' | 'called' | 'logs'
  >;
  const lanes: Lane[] = (options.tenants ?? ['demo']).map((tenantId) => ({ tenantId, provider: 'main' }));
  const pipeline = new DispatchPipeline(
    place.dataSource,
    place.events,
    new MailComposer(place.dataSource, place.tenants),
    lanes,
    new Map([['main', lane]]),
    {
      leaseSeconds: options.leaseSeconds ?? 60,
      callTimeoutMs: new Map([['main', timeoutMs]]),
      rates: options.rate ? new Map([['main', options.rate]]) : new Map(),
      outbox: place.outbox,
      retry: { baseMs: 50, capMs: 200 },
    },
    observerOf(seen),
    loggerTo(seen.logs),
    () => undefined,
  );
  return {
    ...seen,
    pipeline,
    lane,
    workUntil: async (what, probe, deadlineMs = 20_000) => {
      await eventually(what, deadlineMs, async () => {
        await pipeline.runOnce();
        return await probe();
      });
    },
    close: async () => {
      await pipeline.stop();
      await provider.close();
    },
  };
}

function smtpTo(sink: { host: string; port: number }, connections: number, timeoutMs: number): MailProvider {
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
  };
}

export function loggerTo(logs: { event: string; fields: LogFields }[]): Logger {
  const say = (event: string, fields: LogFields = {}): void => void logs.push({ event, fields });
  const logger: Logger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  return logger;
}
