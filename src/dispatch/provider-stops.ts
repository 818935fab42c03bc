import type { DataSource } from 'typeorm';
import { inTransaction, type Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallOutcome } from '../providers/provider.port.ts';
import { errorCode } from '../runtime/service-error.ts';
import type { Lane } from './claim-operations.ts';
import type { ProviderLane } from './provider-lane.ts';

const stop = loadStatement<
  { provider: string; code: string; diagnostic: string; pause_seconds: number; probing: boolean },
  { stops: number }
>(import.meta.url, 'stop-provider.sql');
const probe = loadStatement<{ provider: string; seconds: number }, { provider: string }>(
  import.meta.url,
  'probe-provider.sql',
);
const resume = loadStatement<{ provider: string }, { provider: string; code: string; since: Date }>(
  import.meta.url,
  'resume-provider.sql',
);

export interface StopSettings {
  /** The first pause; a refused probe doubles it. */
  readonly pauseSeconds: number;
  /** How long one probe may take before another one is made. */
  readonly probeSeconds: number;
}

/**
 * A provider that refuses the whole account stops for all replicas, with an event to each tenant that uses it. No operation
 * pays for it: they stay queued. When the pause is over, one operation tries whether the account works again.
 */
export class ProviderStops {
  constructor(
    private readonly dataSource: DataSource,
    private readonly events: EventWriter,
    private readonly limits: OutboxLimits,
    private readonly lanes: readonly Lane[],
    private readonly settings: StopSettings,
    private readonly logger: Logger,
  ) {}

  /** How many operations may be claimed to try a provider that has stopped: one, or none while somebody else tries. */
  async probe(lane: ProviderLane): Promise<0 | 1> {
    const { probeSeconds } = this.settings;
    const taken = await probe.run(this.dataSource, { provider: lane.name, seconds: probeSeconds });
    lane.probing = taken.length > 0;
    return lane.probing ? 1 : 0;
  }

  /** Learns from an outcome. Never throws: the outcome is on its way to be stored. */
  async learn(lane: ProviderLane, outcome: CallOutcome): Promise<void> {
    const paused = lane.learn(outcome);
    if (paused) {
      this.logger.error('dispatch.lane-stopped', { provider: lane.name, why: paused, code: outcome.code });
      // They are given back together, not one by one as calls end.
      lane.dismissWaiting();
    }
    try {
      if (outcome.kind === 'account') await this.#stop(lane, outcome);
      else if (lane.probing && saysThatTheAccountWorks(outcome)) {
        await inTransaction(
          this.dataSource,
          'resume-provider',
          async (tx) => await resumeProvider(tx, this.events, this.limits, this.lanes, lane.name),
        );
        lane.probing = false;
      }
    } catch (error) {
      // The next outcome says the same again.
      this.logger.error('dispatch.stop-not-stored', { provider: lane.name, code: errorCode(error) });
    }
  }

  async #stop(lane: ProviderLane, { code, diagnostic }: CallOutcome): Promise<void> {
    const { probing, name: provider } = lane;
    lane.probing = false;
    await inTransaction(this.dataSource, 'stop-provider', async (tx) => {
      const [row] = await stop.run(tx, {
        provider,
        code,
        diagnostic,
        pause_seconds: this.settings.pauseSeconds,
        probing,
      });
      if (row?.stops !== 1) return;
      const entries = tenantsOf(this.lanes, provider).map((tenantId) =>
        this.events.write('einmal.provider.stopped.v1', { tenantId }, { provider, code, diagnostic }),
      );
      await appendToOutbox(tx, entries, this.limits);
    });
  }
}

/** Lets a stopped provider go on at once. Says whether it had stopped. */
export async function resumeProvider(
  tx: Transaction,
  events: EventWriter,
  limits: OutboxLimits,
  lanes: readonly Lane[],
  provider: string,
): Promise<boolean> {
  const [row] = await resume.run(tx, { provider });
  if (!row) return false;
  const told = { provider, code: row.code, stoppedAt: row.since.toISOString() };
  const entries = tenantsOf(lanes, provider).map((tenantId) =>
    events.write('einmal.provider.resumed.v1', { tenantId }, told),
  );
  await appendToOutbox(tx, entries, limits);
  return true;
}

function tenantsOf(lanes: readonly Lane[], provider: string): string[] {
  return lanes.filter((lane) => lane.provider === provider).map((lane) => lane.tenantId);
}

/** It looked at the operation itself. Whoever was not reached, or asked to wait, says nothing about the account. */
function saysThatTheAccountWorks({ kind }: CallOutcome): boolean {
  switch (kind) {
    case 'accepted':
    case 'rejected':
    case 'suppressed':
    case 'duplicate':
    case 'concurrent':
    case 'key-mismatch':
      return true;
    case 'account':
    case 'ambiguous':
    case 'not-sent':
    case 'throttled':
      return false;
  }
}
