import type { CampaignState } from './campaign.states.ts';

/** What statements about campaigns return; `bigint` columns come as text. */
export interface CampaignRow {
  readonly tenant_id: string;
  readonly campaign_id: string;
  readonly revision: string;
  readonly content_hash: string;
  readonly state: CampaignState;
  readonly state_reason: string | null;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
}
