import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventOrigin, EventWriter } from '../../messaging/outbox/produced-event.ts';
import { storableReason } from '../../messaging/storable-text.ts';
import { campaignEvent, campaignRefused } from '../campaign-events.ts';
import type { CampaignRow } from '../campaign-row.ts';
import { countOperations } from '../count-operations.ts';
import { findCampaign } from '../find-campaign.ts';

export type Control = 'pause' | 'resume' | 'cancel';

export interface ControlRequest {
  readonly campaignId: string;
  readonly by: string;
  readonly reason?: string | undefined;
}

type Parameters = { tenant: string; campaign: string; reason: string };

const STEPS = {
  pause: {
    statement: loadStatement<Parameters, CampaignRow>(import.meta.url, 'pause-campaign.sql'),
    event: 'einmal.campaign.paused.v1',
  },
  resume: {
    statement: loadStatement<Parameters, CampaignRow>(import.meta.url, 'resume-campaign.sql'),
    event: 'einmal.campaign.resumed.v1',
  },
  cancel: {
    statement: loadStatement<Parameters, CampaignRow>(import.meta.url, 'cancel-campaign.sql'),
    event: 'einmal.campaign.cancelled.v1',
  },
} as const;

/** One compare-and-set step that a peer or a person asks for; what the state does not allow is refused with the reason. */
export async function controlCampaign(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  origin: EventOrigin,
  control: Control,
  request: ControlRequest,
): Promise<void> {
  const { statement, event } = STEPS[control];
  const reason = storableReason(`${request.by}${request.reason ? `: ${request.reason}` : ''}`);
  const [campaign] = await statement.run(tx, { tenant: origin.tenantId, campaign: request.campaignId, reason });
  if (campaign) {
    const counts = await countOperations(tx, origin.tenantId, request.campaignId);
    outbox.push(campaignEvent(events, event, origin, campaign, counts));
    return;
  }
  const known = await findCampaign(tx, origin.tenantId, request.campaignId);
  const fault = !known
    ? 'campaign-not-there'
    : control === 'resume' && known.state === 'paused'
      ? 'approval-not-granted'
      : 'state-does-not-allow-it';
  outbox.push(campaignRefused(events, origin, request.campaignId, fault));
}
