import type { DataSource } from 'typeorm';
import { loadStatement, type Statement } from '../database/statement.ts';

interface EndedCampaign {
  readonly campaign_id: string;
  /** To the microsecond, RFC 3339. */
  readonly ended_at: string;
}

type After = { tenant: string; days: number; ended_at: string; campaign: string };
type NextCampaign = Statement<After, EndedCampaign>;

export const nextToScrub: NextCampaign = loadStatement(import.meta.url, 'next-campaign-to-scrub.sql');
export const nextToForget: NextCampaign = loadStatement(import.meta.url, 'next-campaign-to-forget.sql');

/**
 * The ids of a tenant's campaigns that ended more than `days` ago and wait for this step of retention, oldest first, each once: one
 * that has to wait (for an unknown outcome) holds up no other.
 */
export async function* endedCampaigns(
  dataSource: DataSource,
  next: NextCampaign,
  tenant: string,
  days: number,
): AsyncGenerator<string, void, undefined> {
  let after = { ended_at: '-infinity', campaign: '' };
  for (;;) {
    const [found] = await next.run(dataSource, { tenant, days, ...after });
    if (!found) return;
    yield found.campaign_id;
    after = { ended_at: found.ended_at, campaign: found.campaign_id };
  }
}
