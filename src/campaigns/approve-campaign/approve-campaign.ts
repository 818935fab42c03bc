import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventOrigin, EventWriter } from '../../messaging/outbox/produced-event.ts';
import { campaignEvent, campaignRefused, type RefusalReason } from '../campaign-events.ts';
import type { CampaignRow } from '../campaign-row.ts';
import { findCampaign } from '../find-campaign.ts';
import { approvalObject } from '../lock-campaign.ts';

const approve = loadStatement<{ tenant: string; campaign: string }, CampaignRow>(
  import.meta.url,
  'approve-campaign.sql',
);

const findApproval = loadStatement<
  { tenant: string; object: string; revision: string },
  { hash: string | null; granted: boolean; expired: boolean }
>(import.meta.url, 'find-approval.sql');

/**
 * Approves the campaign if an approval of its newest revision and that revision's hash is there. Both the revision and
 * the approval call this when they arrive, under the campaign's lock.
 */
export async function approveCampaign(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  origin: EventOrigin,
  campaignId: string,
): Promise<void> {
  const { tenantId } = origin;
  const [approved] = await approve.run(tx, { tenant: tenantId, campaign: campaignId });
  if (approved) {
    outbox.push(campaignEvent(events, 'einmal.campaign.approved.v1', origin, approved));
    return;
  }
  const campaign = await findCampaign(tx, tenantId, campaignId);
  const fault = campaign && (await approvalFault(tx, campaign));
  if (campaign && fault) {
    outbox.push(
      campaignRefused(events, origin, campaignId, fault, {
        revision: Number(campaign.revision),
        contentHash: campaign.content_hash,
      }),
    );
  }
}

async function approvalFault(tx: Transaction, campaign: CampaignRow): Promise<RefusalReason | undefined> {
  if (campaign.state !== 'drafted') return undefined;
  const [approval] = await findApproval.run(tx, {
    tenant: campaign.tenant_id,
    object: approvalObject(campaign.campaign_id),
    revision: campaign.revision,
  });
  if (!approval?.granted) return undefined;
  if (approval.hash !== campaign.content_hash) return 'hash-differs';
  return approval.expired ? 'approval-expired' : undefined;
}
