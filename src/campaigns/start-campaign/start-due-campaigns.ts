import type { DataSource } from 'typeorm';
import { loadStatement, type NoParameters } from '../../database/statement.ts';
import type { CampaignState } from '../campaign.states.ts';

const start = loadStatement<NoParameters, { tenant_id: string; campaign_id: string; state: CampaignState }>(
  import.meta.url,
  'start-due-campaigns.sql',
);

/** Moves approved campaigns on, by the database's clock. Returns how many changed. */
export async function startDueCampaigns(dataSource: DataSource): Promise<number> {
  return (await start.run(dataSource, {})).length;
}
