import type { DataSource } from 'typeorm';
import { inTransaction } from '../../database/in-transaction.ts';
import { loadStatement, type NoParameters } from '../../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { campaignEvent } from '../campaign-events.ts';
import type { CampaignRow } from '../campaign-row.ts';
import { countOperations } from '../count-operations.ts';

const lock = loadStatement<NoParameters, { campaign_id: string }>(import.meta.url, 'lock-sending.sql');
const complete = loadStatement<NoParameters, CampaignRow>(import.meta.url, 'complete-campaigns.sql');

/** Completes every campaign whose operations are all in a final state. Returns how many. */
export async function completeCampaigns(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
): Promise<number> {
  return await inTransaction(dataSource, 'complete', async (tx) => {
    await lock.run(tx, {});
    const completed = await complete.run(tx, {});
    const entries = [];
    for (const campaign of completed) {
      const counts = await countOperations(tx, campaign.tenant_id, campaign.campaign_id);
      const origin = {
        tenantId: campaign.tenant_id,
        causationId: campaign.causation_id,
        traceparent: campaign.traceparent,
      };
      entries.push(campaignEvent(events, 'einmal.campaign.completed.v1', origin, campaign, counts));
    }
    await appendToOutbox(tx, entries, limits);
    return completed.length;
  });
}
