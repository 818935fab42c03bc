import { Controller } from '@nestjs/common';
import { lockObjects } from '../../approvals/lock-objects.ts';
import { storeApprovals } from '../../approvals/store-approvals.ts';
import { loadStatement } from '../../database/statement.ts';
import type { ConsumedEvent, EventBatch } from '../../messaging/inbox/consumed-event.ts';
import { Handles, type DataOf } from '../../messaging/inbox/handles.decorator.ts';
import { newestFacts } from '../../messaging/inbox/newest-facts.ts';
import { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { storableReason } from '../../messaging/storable-text.ts';
import { queueApproved } from '../../operations/queue-approved/queue-approved.ts';
import { campaignEvent, campaignRefused } from '../campaign-events.ts';
import type { CampaignRow } from '../campaign-row.ts';
import { countOperations } from '../count-operations.ts';
import { findCampaign } from '../find-campaign.ts';
import { campaignOfObject } from '../lock-campaign.ts';
import { approveCampaign } from './approve-campaign.ts';

type Granted = DataOf<'einmal.approval.granted.v1'>;
type Withdrawn = DataOf<'einmal.approval.withdrawn.v1'>;

const withdraw = loadStatement<{ tenant: string; campaign: string; revision: number }, CampaignRow>(
  import.meta.url,
  'withdraw-approval.sql',
);

/** Approvals are stored under their own key whatever they speak of, and take effect when both are there. */
@Controller()
export class ApprovalFactsHandler {
  constructor(private readonly events: EventWriter) {}

  @Handles('einmal.approval.granted.v1')
  async granted(batch: EventBatch<Granted>): Promise<void> {
    const newest = await this.#lockAndStore(batch, ({ data }) => ({
      hash: data.hash,
      granted: true,
      decidedBy: data.approvedBy,
      expiresAt: data.expiresAt ?? null,
      reason: null,
    }));
    await queueApproved(
      batch.tx,
      newest.map((event) => ({ tenantId: event.tenantId, object: event.data.object })),
    );
    for (const event of newest) await this.#approve(batch, event);
  }

  @Handles('einmal.approval.withdrawn.v1')
  async withdrawn(batch: EventBatch<Withdrawn>): Promise<void> {
    const newest = await this.#lockAndStore(batch, ({ data }) => ({
      hash: null,
      granted: false,
      decidedBy: data.by,
      expiresAt: null,
      reason: data.reason === undefined ? null : storableReason(data.reason),
    }));
    for (const event of newest) await this.#withdraw(batch, event);
  }

  async #lockAndStore<D extends Granted | Withdrawn>(
    { events, tx }: EventBatch<D>,
    decide: (event: ConsumedEvent<D>) => {
      hash: string | null;
      granted: boolean;
      decidedBy: string;
      expiresAt: string | null;
      reason: string | null;
    },
  ): Promise<ConsumedEvent<D>[]> {
    const newest = newestFacts(events, ({ tenantId, data }) => JSON.stringify([tenantId, data.object, data.revision]));
    await lockObjects(
      tx,
      newest.map((event) => ({ tenantId: event.tenantId, object: event.data.object })),
    );
    await storeApprovals(
      tx,
      newest.map((event) => ({
        tenantId: event.tenantId,
        object: event.data.object,
        revision: event.data.revision,
        factTime: event.time,
        ...decide(event),
      })),
    );
    return newest;
  }

  async #approve({ tx, outbox }: EventBatch<Granted>, event: ConsumedEvent<Granted>): Promise<void> {
    const campaignId = campaignOfObject(event.data.object);
    if (campaignId === undefined) return;
    const origin = { tenantId: event.tenantId, causationId: event.id, traceparent: event.traceparent };
    const campaign = await findCampaign(tx, event.tenantId, campaignId);
    const { revision, hash } = event.data;
    // Approving a revision that is not there yet: it takes effect when the revision arrives.
    if (!campaign || Number(campaign.revision) < revision) return;
    if (Number(campaign.revision) > revision) {
      outbox.push(campaignRefused(this.events, origin, campaignId, 'revision-not-newest', { revision }));
    } else if (campaign.content_hash !== hash) {
      const contentHash = campaign.content_hash;
      outbox.push(campaignRefused(this.events, origin, campaignId, 'hash-differs', { revision, contentHash }));
    } else {
      await approveCampaign(tx, outbox, this.events, origin, campaignId);
    }
  }

  async #withdraw({ tx, outbox }: EventBatch<Withdrawn>, event: ConsumedEvent<Withdrawn>): Promise<void> {
    const campaignId = campaignOfObject(event.data.object);
    if (campaignId === undefined) return;
    const [campaign] = await withdraw.run(tx, {
      tenant: event.tenantId,
      campaign: campaignId,
      revision: event.data.revision,
    });
    if (!campaign) return;
    const type = WITHDRAWN_EVENT[campaign.state];
    if (!type) return;
    const origin = { tenantId: event.tenantId, causationId: event.id, traceparent: event.traceparent };
    const counts = await countOperations(tx, event.tenantId, campaignId);
    outbox.push(campaignEvent(this.events, type, origin, campaign, counts));
  }
}

const WITHDRAWN_EVENT: Partial<Record<CampaignRow['state'], Parameters<typeof campaignEvent>[1]>> = {
  drafted: 'einmal.campaign.drafted.v1',
  paused: 'einmal.campaign.paused.v1',
  cancelled: 'einmal.campaign.cancelled.v1',
};
