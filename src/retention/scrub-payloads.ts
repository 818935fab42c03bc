import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { endedCampaigns, nextToScrub } from './ended-campaigns.ts';
import { ADDRESS_KEYS, findCampaignOperations, type OperationId } from './find-campaign-operations.ts';
import type { TenantRetention } from './retention-settings.ts';
import { scrubOperations } from './scrub-operations.ts';

type Page = { tenant: string; days: number; page_size: number };

const findSingles = loadStatement<Page, OperationId>(import.meta.url, 'find-operations-to-scrub.sql');
const finish = loadStatement<{ tenant: string; campaign: string }, { campaign_id: string }>(
  import.meta.url,
  'finish-scrubbing.sql',
);
const settleUnmatched = loadStatement<Page, { receipts: number }>(import.meta.url, 'settle-unmatched-receipts.sql');

/**
 * One sweep: removes what operations held that ended longer ago than their tenant keeps payloads. Each step is one page in one
 * transaction. Any number of replicas may sweep at once, and one that is cut leaves nothing half done.
 */
export async function* scrubPayloads(
  dataSource: DataSource,
  tenants: readonly TenantRetention[],
  pageSize: number,
): AsyncGenerator<void, void, undefined> {
  for (const { id: tenant, payloadRetentionDays: days } of tenants) {
    yield* scrubSingles(dataSource, { tenant, days, page_size: pageSize });
    for await (const campaign of endedCampaigns(dataSource, nextToScrub, tenant, days)) {
      yield* scrubCampaign(dataSource, campaign, { tenant, days, page_size: pageSize });
    }
    yield* dropUnmatched(dataSource, { tenant, days, page_size: pageSize });
  }
}

async function* scrubSingles(dataSource: DataSource, page: Page): AsyncGenerator<void, void, undefined> {
  for (let found = page.page_size; found >= page.page_size;) {
    found = await inTransaction(dataSource, 'scrub', async (tx) => {
      const due = await findSingles.run(tx, page);
      await scrubOperations(tx, due);
      return due.length;
    });
    yield;
  }
}

/**
 * The place in the index moves on with the pages: entries of rows that are scrubbed stay there for a while, and whoever began
 * anew for each page would step over all of them again.
 */
async function* scrubCampaign(
  dataSource: DataSource,
  campaign: string,
  page: Page,
): AsyncGenerator<void, void, undefined> {
  for (const { after: begin, before } of ADDRESS_KEYS) {
    for (let after: string | null = begin; after !== null;) {
      const bounds = { campaign, after, before };
      after = await inTransaction(dataSource, 'scrub', async (tx) => {
        const due = await findCampaignOperations.run(tx, { ...page, ...bounds });
        await scrubOperations(tx, due);
        return due.length < page.page_size ? null : (due.at(-1)?.address_key ?? null);
      });
      yield;
    }
  }
  await finish.run(dataSource, { tenant: page.tenant, campaign });
}

async function* dropUnmatched(dataSource: DataSource, page: Page): AsyncGenerator<void, void, undefined> {
  for (let found = page.page_size; found >= page.page_size;) {
    found = (await settleUnmatched.run(dataSource, page))[0]?.receipts ?? 0;
    yield;
  }
}
