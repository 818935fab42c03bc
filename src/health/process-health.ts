import type { DataSource } from 'typeorm';
import type { ConsumerStatus } from '../messaging/kafka/consumer-supervisor.ts';
import { monotonicNow } from '../runtime/monotonic.ts';
import type { PollingLoopHealth } from '../runtime/polling-loop.ts';
import type { EventLoopDelay } from '../runtime/event-loop-delay.ts';

export interface Verdict {
  readonly ok: boolean;
  readonly status: 'ok' | 'degraded' | 'starting' | 'shutting-down' | 'failed';
  readonly details: Readonly<Record<string, unknown>>;
}

export interface HealthSources {
  readonly dataSource: DataSource;
  consumers(): readonly ConsumerStatus[];
  /** Consumers that this process is to have; they are not there before the topics have been checked. */
  readonly consumersWanted: number;
  loops(): readonly PollingLoopHealth[];
  readonly eventLoop: EventLoopDelay;
  /** How long a consumer may be without its group before the process is not ready: session and rebalance timeout. */
  readonly joinGraceMs: number;
}

/** A pass of a loop is hung after this long; the longest statement and the longest call end far earlier. */
const HUNG_PASS_MS = 15 * 60_000;
const STALLED_EVENT_LOOP_MS = 30_000;
const PING_FRESH_MS = 2_000;

/**
 * What the three probes answer. Live is red only for what a restart cures: never for a database or a broker that is away,
 * a rebalance or a backlog, since restarting every replica then makes it worse.
 */
export class ProcessHealth {
  #shuttingDown = false;
  #everJoined = false;
  #lastJoinedAt = monotonicNow();
  #pinged: { readonly at: number; readonly ok: Promise<boolean> } | null = null;

  constructor(private readonly sources: HealthSources) {}

  shutDown(): void {
    this.#shuttingDown = true;
  }

  async startup(): Promise<Verdict> {
    const database = await this.#databaseAnswers();
    const consumers = this.#consumersJoined();
    const ok = database && (consumers || this.#everJoined);
    return { ok, status: ok ? 'ok' : 'starting', details: { database, consumersJoined: consumers } };
  }

  live(): Verdict {
    const failed = this.sources
      .consumers()
      .filter((consumer) => consumer.state === 'failed')
      .map(({ topic }) => topic);
    const hung = this.sources
      .loops()
      .filter((loop) => (loop.currentRunMs ?? 0) > HUNG_PASS_MS)
      .map(({ name }) => name);
    const { maxMs } = this.sources.eventLoop.sample();
    const ok = failed.length === 0 && hung.length === 0 && maxMs < STALLED_EVENT_LOOP_MS;
    return {
      ok,
      status: ok ? 'ok' : 'failed',
      details: { failedConsumers: failed, hungLoops: hung, eventLoopMaxMs: Math.round(maxMs) },
    };
  }

  async ready(): Promise<Verdict> {
    if (this.#shuttingDown) return { ok: false, status: 'shutting-down', details: {} };
    const database = await this.#databaseAnswers();
    const joined = this.#consumersJoined();
    const joinedLately = monotonicNow() - this.#lastJoinedAt < this.sources.joinGraceMs;
    const started = joined || this.#everJoined;
    const ok = database && started && (joined || joinedLately);
    const status = !ok ? (started ? 'failed' : 'starting') : joined ? 'ok' : 'degraded';
    return { ok, status, details: { database, consumers: this.sources.consumers().map(summary) } };
  }

  #consumersJoined(): boolean {
    const consumers = this.sources.consumers();
    const joined =
      consumers.length >= this.sources.consumersWanted && consumers.every(({ state }) => state === 'running');
    if (joined) {
      this.#everJoined = true;
      this.#lastJoinedAt = monotonicNow();
    }
    return joined;
  }

  /** One statement for all probes of two seconds, over the pool that is there. */
  #databaseAnswers(): Promise<boolean> {
    if (this.#pinged === null || monotonicNow() - this.#pinged.at > PING_FRESH_MS) {
      const ok = within(1_500, this.sources.dataSource.query('SELECT 1')).then(
        () => true,
        () => false,
      );
      this.#pinged = { at: monotonicNow(), ok };
    }
    return this.#pinged.ok;
  }
}

function summary({ topic, state, restarts, partitions }: ConsumerStatus) {
  return { topic, state, restarts, lag: partitions.reduce((sum, { lag }) => sum + (lag ?? 0), 0) };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
