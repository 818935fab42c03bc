import type { TenantConfig } from '../../config/einmal-config.ts';
import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { compileMail } from '../../mail/compile-mail.ts';
import { parseMailbox } from '../../mail/mailbox.ts';
import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { ConsumedEvent } from '../../messaging/inbox/consumed-event.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { campaignContentHash } from '../../operations/payload-hash.ts';
import { senderIsAllowed } from '../../tenants/sender-is-allowed.ts';
import { approveCampaign } from '../approve-campaign/approve-campaign.ts';
import { campaignEvent, campaignRefused, type RefusalReason } from '../campaign-events.ts';
import { findCampaign } from '../find-campaign.ts';
import type { CampaignRow } from '../campaign-row.ts';
import { lockCampaign } from '../lock-campaign.ts';
import { mailSourceOf } from '../mail-source.ts';

export type SubmittedRevision = DataOf<'einmal.campaign.revision-submitted.v1'>;

const insertRevision = loadStatement<
  { tenant: string; campaign: string; revision: number; content: string; content_hash: string },
  { content_hash: string }
>(import.meta.url, 'insert-revision.sql');

const findRevision = loadStatement<
  { tenant: string; campaign: string; revision: number },
  { content_hash: string; newest_revision: string }
>(import.meta.url, 'find-revision.sql');

const draft = loadStatement<
  {
    tenant: string;
    campaign: string;
    revision: number;
    content_hash: string;
    class: string;
    provider: string;
    on_unknown: string;
    scheduled_for: string | null;
    causation_id: string;
    traceparent: string | null;
  },
  CampaignRow
>(import.meta.url, 'draft-campaign.sql');

/**
 * Stores a revision, which never changes afterwards, and drafts the campaign with it when it is the newest. An approval
 * that came first takes effect here.
 */
export async function submitCampaign(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  tenant: TenantConfig,
  event: ConsumedEvent<SubmittedRevision>,
): Promise<void> {
  const { tenantId, data } = event;
  const origin = { tenantId, causationId: event.id, traceparent: event.traceparent };
  const contentHash = campaignContentHash(data);
  const refuse = (reason: RefusalReason): void => {
    outbox.push(campaignRefused(events, origin, data.campaignId, reason, { revision: data.revision, contentHash }));
  };

  const fault = contentFault(data, tenant);
  if (fault) {
    refuse(fault);
    return;
  }
  await lockCampaign(tx, tenantId, data.campaignId);
  const known = await storeRevision(tx, tenantId, data, contentHash);
  if (known && known !== contentHash) {
    refuse('revision-has-other-content');
    return;
  }
  const [drafted] = await draft.run(tx, {
    tenant: tenantId,
    campaign: data.campaignId,
    revision: data.revision,
    content_hash: contentHash,
    class: data.class,
    provider: data.provider ?? tenant.provider,
    on_unknown: data.onUnknown ?? tenant.onUnknown ?? 'hold',
    scheduled_for: data.scheduledFor ?? null,
    causation_id: event.id,
    traceparent: event.traceparent ?? null,
  });
  if (drafted) {
    outbox.push(campaignEvent(events, 'einmal.campaign.drafted.v1', origin, drafted));
    await approveCampaign(tx, outbox, events, origin, data.campaignId);
    return;
  }
  const campaign = await findCampaign(tx, tenantId, data.campaignId);
  // The same revision again, under another event id: it is there, and that is what the peer wants to hear.
  if (campaign && known && Number(campaign.revision) === data.revision) {
    outbox.push(campaignEvent(events, 'einmal.campaign.drafted.v1', origin, campaign));
    return;
  }
  refuse(campaign && Number(campaign.revision) > data.revision ? 'revision-not-newest' : 'campaign-already-started');
}

/** The hash under which the revision was there before, if it was. */
async function storeRevision(
  tx: Transaction,
  tenant: string,
  data: SubmittedRevision,
  contentHash: string,
): Promise<string | undefined> {
  const { campaignId: campaign, revision, ...content } = data;
  const inserted = await insertRevision.run(tx, {
    tenant,
    campaign,
    revision,
    content: JSON.stringify(content),
    content_hash: contentHash,
  });
  if (inserted.length > 0) return undefined;
  return (await findRevision.run(tx, { tenant, campaign, revision }))[0]?.content_hash;
}

function contentFault(data: SubmittedRevision, tenant: TenantConfig): RefusalReason | undefined {
  const from = parseMailbox(data.from);
  if (!from.ok) return `content-invalid: from: ${from.rule}`;
  if (!senderIsAllowed(tenant, from.address)) return 'sender-not-allowed';
  if (data.provider !== undefined && !tenant.providers.includes(data.provider)) return 'provider-not-allowed';
  const compiled = compileMail(mailSourceOf(data));
  return compiled.ok ? undefined : `content-invalid: ${compiled.field}: ${compiled.rule}`;
}
