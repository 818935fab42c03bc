import type { DataSource } from 'typeorm';
import { inTransaction, type Transaction } from '../../database/in-transaction.ts';
import { loadStatement, type NoParameters } from '../../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { insertOperations, type NewOperation } from '../../operations/request-operations/insert-operations.ts';
import { reach } from '../../runtime/signal.ts';
import { campaignEvent } from '../campaign-events.ts';
import type { CampaignRow } from '../campaign-row.ts';
import { countExclusions } from '../count-exclusions.ts';
import { countOperations } from '../count-operations.ts';
import { judge, type ExclusionReason, type PageRow, type Verdict } from './audience.ts';
import { campaignOperation } from './campaign-operation.ts';
import type { MaterialisingCampaign } from './materialising-campaign.ts';

export interface MaterialiseSettings {
  readonly pageSize: number;
  readonly maxAttempts: number;
  readonly outbox: OutboxLimits;
}

const nextCampaign = loadStatement<NoParameters, MaterialisingCampaign>(import.meta.url, 'next-campaign.sql');
const readPage = loadStatement<
  { tenant: string; through: string; page_size: number; class: string; lists: readonly string[] },
  PageRow
>(import.meta.url, 'read-page.sql');
const insertExclusions = loadStatement<
  { tenant: string; campaign: string; subscribers: string[]; reasons: string[] },
  never
>(import.meta.url, 'insert-exclusions.sql');
const advance = loadStatement<
  { tenant: string; campaign: string; revision: string; through: string },
  { campaign_id: string }
>(import.meta.url, 'advance-campaign.sql');
const beginSending = loadStatement<{ tenant: string; campaign: string; revision: string }, CampaignRow>(
  import.meta.url,
  'begin-sending.sql',
);

/**
 * Freezes one page of one campaign's audience into operations, in one transaction with the place it got to; after a crash
 * the next page begins where the last committed one ended. Past the last subscriber the count is whole and sending begins.
 *
 * @returns `idle` when no campaign is being materialised
 */
export async function materialisePage(
  dataSource: DataSource,
  events: EventWriter,
  settings: MaterialiseSettings,
): Promise<'more' | 'idle'> {
  return await inTransaction(dataSource, 'materialise', async (tx) => {
    const [campaign] = await nextCampaign.run(tx, {});
    if (!campaign) return 'idle';
    const rows = await readPage.run(tx, {
      tenant: campaign.tenant_id,
      through: campaign.materialised_through ?? '',
      page_size: settings.pageSize,
      class: campaign.class,
      lists: campaign.content.audience.lists,
    });
    const last = rows.at(-1);
    if (last) await freezePage(tx, campaign, rows, last.subscriber_id, settings);
    else await finish(tx, campaign, events, settings);
    return 'more';
  });
}

async function freezePage(
  tx: Transaction,
  campaign: MaterialisingCampaign,
  rows: readonly PageRow[],
  through: string,
  settings: MaterialiseSettings,
): Promise<void> {
  const operations: NewOperation[] = [];
  const excluded: { subscriberId: string; reason: ExclusionReason }[] = [];
  const taken = new Set<string>();
  for (const row of rows) {
    const verdict = judgeOnce(row, campaign, taken);
    if (verdict.kind === 'recipient') operations.push(campaignOperation(campaign, row, verdict, settings.maxAttempts));
    if (verdict.kind === 'excluded') excluded.push({ subscriberId: row.subscriber_id, reason: verdict.reason });
  }
  const inserted = new Set((await insertOperations(tx, operations)).map((row) => row.operation_id));
  await reach('materialise.after-insert');
  // One mail per address: who shares an address with an earlier subscriber is left out, and counted.
  for (const operation of operations) {
    if (!inserted.has(operation.operationId) && operation.campaign) {
      excluded.push({ subscriberId: operation.campaign.subscriberId, reason: 'same-address' });
    }
  }
  if (excluded.length > 0) {
    await insertExclusions.run(tx, {
      tenant: campaign.tenant_id,
      campaign: campaign.campaign_id,
      subscribers: excluded.map((each) => each.subscriberId),
      reasons: excluded.map((each) => each.reason),
    });
  }
  await advance.run(tx, { ...idOf(campaign), revision: campaign.revision, through });
}

/** The first of a page who has an address gets the mail: the statement that inserts goes by another order. */
function judgeOnce(row: PageRow, campaign: MaterialisingCampaign, taken: Set<string>): Verdict {
  const verdict = judge(row, campaign.content.audience);
  if (verdict.kind !== 'recipient') return verdict;
  if (taken.has(verdict.addressKey)) return { kind: 'excluded', reason: 'same-address' };
  taken.add(verdict.addressKey);
  return verdict;
}

async function finish(
  tx: Transaction,
  campaign: MaterialisingCampaign,
  events: EventWriter,
  settings: MaterialiseSettings,
): Promise<void> {
  const [sending] = await beginSending.run(tx, { ...idOf(campaign), revision: campaign.revision });
  if (!sending) return;
  const counts = await countOperations(tx, campaign.tenant_id, campaign.campaign_id);
  const leftOut = await countExclusions(tx, campaign.tenant_id, campaign.campaign_id);
  const origin = {
    tenantId: campaign.tenant_id,
    causationId: campaign.causation_id,
    traceparent: campaign.traceparent,
  };
  const materialised = events.write('einmal.campaign.materialised.v1', origin, {
    campaignId: sending.campaign_id,
    revision: Number(sending.revision),
    contentHash: sending.content_hash,
    state: sending.state,
    counts,
    leftOut,
  });
  const started = campaignEvent(events, 'einmal.campaign.started.v1', origin, sending, counts);
  await appendToOutbox(tx, [materialised, started], settings.outbox);
}

function idOf(campaign: CampaignRow): { tenant: string; campaign: string } {
  return { tenant: campaign.tenant_id, campaign: campaign.campaign_id };
}
