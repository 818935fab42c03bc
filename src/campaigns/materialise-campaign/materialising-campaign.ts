import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { CampaignRow } from '../campaign-row.ts';

/** A campaign whose audience is being frozen, with the revision that it is frozen for. */
export interface MaterialisingCampaign extends CampaignRow {
  readonly class: 'marketing' | 'transactional';
  readonly provider: string;
  readonly on_unknown: 'hold' | 'resend' | 'assume-sent';
  readonly materialised_through: string | null;
  readonly content: Omit<DataOf<'einmal.campaign.revision-submitted.v1'>, 'campaignId' | 'revision'>;
}
