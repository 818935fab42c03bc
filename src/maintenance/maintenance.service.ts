import type { DataSource } from 'typeorm';
import { writeAudit } from '../audit/write-audit.ts';
import { completeCampaigns } from '../campaigns/complete-campaign/complete-campaigns.ts';
import { cancelRemaining } from '../campaigns/control-campaign/cancel-remaining.ts';
import { materialisePage } from '../campaigns/materialise-campaign/materialise-campaign.ts';
import { startDueCampaigns } from '../campaigns/start-campaign/start-due-campaigns.ts';
import { loadStatement, type Statement } from '../database/statement.ts';
import { erasePage } from '../erasure/erase-person.ts';
import type { ErasurePlace } from '../erasure/erasure.ts';
import type { OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { Logger } from '../observability/logger.ts';
import { expireOperations } from '../operations/expire-operations.ts';
import { linkReceipts } from '../receipts/link-receipts.ts';
import { forgetKeys } from '../retention/forget-keys.ts';
import { pageByPage } from '../retention/page-by-page.ts';
import type { TenantRetention } from '../retention/retention-settings.ts';
import { scrubPayloads } from '../retention/scrub-payloads.ts';
import { judgingWherePossible } from '../operations/settle-by-evidence/judging-where-possible.ts';
import { PollingLoop, type PollingLoopHealth, type RunResult } from '../runtime/polling-loop.ts';
import type { ProcessPart } from '../runtime/process-part.ts';

export interface MaintenanceSettings {
  readonly campaignPageSize: number;
  readonly maxAttempts: number;
  readonly inboxRetentionDays: number;
  readonly deadLetterDays: number;
  readonly tenants: readonly TenantRetention[];
  readonly sweepBatch: number;
  readonly sweepMs: number;
  readonly outbox: OutboxLimits;
}

type Prune = { retention_days: number; page_size: number };

const pruneInbox = loadStatement<Prune, { consumer: string }>(import.meta.url, '../messaging/inbox/prune-inbox.sql');
const pruneDeadLetters = loadStatement<Prune, { consumer: string }>(
  import.meta.url,
  '../messaging/inbox/prune-dead-letters.sql',
);

/** The chores: what moves campaigns on, and what must not wait for a person. Any number of replicas may run them. */
export class MaintenanceService implements ProcessPart {
  readonly #loops: readonly PollingLoop[];

  constructor(
    dataSource: DataSource,
    events: EventWriter,
    rescue: PollingLoop,
    settings: MaintenanceSettings,
    logger: Logger,
  ) {
    const { outbox, campaignPageSize: pageSize, maxAttempts } = settings;
    const loop = (name: string, min: number, max: number, runOnce: () => Promise<RunResult>): PollingLoop =>
      new PollingLoop({ name, runOnce, idleMs: { min, max }, logger });
    const prune = (name: string, statement: Statement<Prune, unknown>, days: number): PollingLoop =>
      loop(name, settings.sweepMs, settings.sweepMs, async () => {
        const pruned = await statement.run(dataSource, { retention_days: days, page_size: settings.sweepBatch });
        return pruned.length >= settings.sweepBatch ? 'more' : 'idle';
      });
    const sweep = (name: string, pages: Parameters<typeof pageByPage>[0]): PollingLoop =>
      loop(name, settings.sweepMs, settings.sweepMs, pageByPage(pages));
    const erasures: ErasurePlace = {
      dataSource,
      events,
      outbox,
      pageSize: settings.sweepBatch,
      audit: async (tx, entry) => await writeAudit(tx, [entry]),
    };
    this.#loops = [
      rescue,
      loop('start-campaigns', 100, 500, async () => ((await startDueCampaigns(dataSource)) > 0 ? 'more' : 'idle')),
      loop(
        'materialise',
        100,
        500,
        async () => await materialisePage(dataSource, events, { pageSize, maxAttempts, outbox }),
      ),
      loop('complete-campaigns', 500, 2_000, async () =>
        (await completeCampaigns(dataSource, events, outbox)) > 0 ? 'more' : 'idle',
      ),
      loop('cancel-remaining', 500, 2_000, async () =>
        (await cancelRemaining(dataSource, events, pageSize, outbox)) > 0 ? 'more' : 'idle',
      ),
      loop('expire', 500, 2_000, async () =>
        (await expireOperations(dataSource, events, pageSize, outbox)) > 0 ? 'more' : 'idle',
      ),
      loop('link-receipts', 2_000, 5_000, async () => {
        const linked = await judgingWherePossible(
          async (judge) => await linkReceipts(dataSource, events, pageSize, outbox, judge),
          (code) => logger.error('maintenance.receipts-not-judged', { code }),
        );
        return linked > 0 ? 'more' : 'idle';
      }),
      loop('erase', 1_000, 10_000, async () => await erasePage(erasures, null)),
      sweep('scrub-payloads', () => scrubPayloads(dataSource, settings.tenants, settings.sweepBatch)),
      sweep('forget-keys', () => forgetKeys(dataSource, settings.tenants, settings.sweepBatch)),
      prune('prune-inbox', pruneInbox, settings.inboxRetentionDays),
      prune('prune-dead-letters', pruneDeadLetters, settings.deadLetterDays),
    ];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(timeoutMs: number): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop({ timeoutMs })));
  }

  loops(): readonly PollingLoopHealth[] {
    return this.#loops.map((loop) => loop.health());
  }
}
