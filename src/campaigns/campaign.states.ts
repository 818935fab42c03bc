/** The states of a campaign (DESIGN, section 5). The same words stand in the CHECK constraint of the table. */
export const CAMPAIGN_STATES = [
  'drafted',
  'approved',
  'scheduled',
  'materialising',
  'sending',
  'paused',
  'completed',
  'cancelled',
] as const;

export type CampaignState = (typeof CAMPAIGN_STATES)[number];

/** Which state may follow which. Each step is one `UPDATE ... WHERE state = ...`; the loser of a race changes nothing. */
export const CAMPAIGN_TRANSITIONS: Readonly<Record<CampaignState, readonly CampaignState[]>> = {
  drafted: ['drafted', 'approved', 'cancelled'],
  approved: ['drafted', 'scheduled', 'materialising', 'cancelled'],
  scheduled: ['drafted', 'materialising', 'cancelled'],
  materialising: ['sending', 'cancelled'],
  sending: ['paused', 'completed', 'cancelled'],
  paused: ['sending', 'cancelled'],
  completed: [],
  cancelled: [],
};
