import { loadStatement, type Executor } from '../database/statement.ts';
import type { CampaignRow } from './campaign-row.ts';

const find = loadStatement<{ tenant: string; campaign: string }, CampaignRow>(import.meta.url, 'find-campaign.sql');

export async function findCampaign(
  executor: Executor,
  tenant: string,
  campaign: string,
): Promise<CampaignRow | undefined> {
  return (await find.run(executor, { tenant, campaign }))[0];
}
