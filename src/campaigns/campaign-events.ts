import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventOrigin, EventWriter } from '../messaging/outbox/produced-event.ts';
import type { OperationState } from '../operations/operation.states.ts';
import type { CampaignRow } from './campaign-row.ts';

export type StateCounts = Partial<Record<OperationState, number>>;

type CampaignEvent =
  | 'einmal.campaign.drafted.v1'
  | 'einmal.campaign.approved.v1'
  | 'einmal.campaign.materialised.v1'
  | 'einmal.campaign.started.v1'
  | 'einmal.campaign.paused.v1'
  | 'einmal.campaign.resumed.v1'
  | 'einmal.campaign.completed.v1'
  | 'einmal.campaign.cancelled.v1';

export function campaignEvent(
  events: EventWriter,
  type: CampaignEvent,
  origin: EventOrigin,
  campaign: CampaignRow,
  counts: StateCounts = {},
): OutboxEntry {
  return events.write(type, origin, {
    campaignId: campaign.campaign_id,
    revision: Number(campaign.revision),
    contentHash: campaign.content_hash,
    state: campaign.state,
    counts,
    ...(campaign.state_reason ? { reason: campaign.state_reason } : {}),
  });
}

/** Why a request about a campaign had no effect: a closed set, so that peers can act on it. */
export type RefusalReason =
  | 'campaign-not-there'
  | 'revision-not-newest'
  | 'revision-has-other-content'
  | 'campaign-already-started'
  | 'hash-differs'
  | 'state-does-not-allow-it'
  | 'sender-not-allowed'
  | 'provider-not-allowed'
  | 'approval-expired'
  | 'approval-not-granted'
  | `content-invalid: ${string}`;

export function campaignRefused(
  events: EventWriter,
  origin: EventOrigin,
  campaignId: string,
  reason: RefusalReason,
  known?: { readonly revision: number; readonly contentHash?: string },
): OutboxEntry {
  return events.write('einmal.campaign.refused.v1', origin, { campaignId, reason, ...known });
}
