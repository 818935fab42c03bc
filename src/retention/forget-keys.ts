import type { DataSource } from 'typeorm';
import { inTransaction, type Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { endedCampaigns, nextToForget } from './ended-campaigns.ts';
import { findCampaignOperations, idsOf, SCRUBBED_KEYS, type OperationId } from './find-campaign-operations.ts';
import type { TenantRetention } from './retention-settings.ts';

type Page = { tenant: string; days: number; page_size: number };
type CampaignId = { tenant: string; campaign: string };

const findSingles = loadStatement<Page, OperationId>(import.meta.url, 'find-operations-to-forget.sql');
const forget = loadStatement<ReturnType<typeof idsOf> & { keep_tombstones: boolean }, { operations: number }>(
  import.meta.url,
  'forget-operations.sql',
);
const forgetExclusions = loadStatement<CampaignId & { after: string; page_size: number }, { subscriber_id: string }>(
  import.meta.url,
  'forget-exclusions.sql',
);
const forgetCampaign = loadStatement<CampaignId, { campaign_id: string }>(import.meta.url, 'forget-campaign.sql');

/**
 * One sweep: removes the keys of operations that were scrubbed and ended longer ago than their tenant remembers keys, and campaigns
 * of which nothing is left. Each step is one page in one transaction, for any number of replicas at once.
 */
export async function* forgetKeys(
  dataSource: DataSource,
  tenants: readonly TenantRetention[],
  pageSize: number,
): AsyncGenerator<void, void, undefined> {
  for (const { id: tenant, keyRetentionDays: days, afterKeyRetention } of tenants) {
    const page = { tenant, days, page_size: pageSize };
    const keepTombstones = afterKeyRetention === 'tombstone';
    yield* forgetSingles(dataSource, page, keepTombstones);
    for await (const campaign of endedCampaigns(dataSource, nextToForget, tenant, days)) {
      yield* forgetOperationsOf(dataSource, campaign, page, keepTombstones);
      yield* forgetRest(dataSource, { tenant, campaign }, pageSize);
    }
  }
}

async function* forgetSingles(
  dataSource: DataSource,
  page: Page,
  keepTombstones: boolean,
): AsyncGenerator<void, void, undefined> {
  for (let found = page.page_size; found >= page.page_size;) {
    found = await inTransaction(dataSource, 'forget', async (tx) => {
      const due = await findSingles.run(tx, page);
      await forgetOperations(tx, due, keepTombstones);
      return due.length;
    });
    yield;
  }
}

async function* forgetOperationsOf(
  dataSource: DataSource,
  campaign: string,
  page: Page,
  keepTombstones: boolean,
): AsyncGenerator<void, void, undefined> {
  const { before } = SCRUBBED_KEYS;
  for (let after: string | null = SCRUBBED_KEYS.after; after !== null;) {
    const bounds = { campaign, after, before };
    after = await inTransaction(dataSource, 'forget', async (tx) => {
      const due = await findCampaignOperations.run(tx, { ...page, ...bounds });
      await forgetOperations(tx, due, keepTombstones);
      return due.length < page.page_size ? null : (due.at(-1)?.address_key ?? null);
    });
    yield;
  }
}

async function* forgetRest(
  dataSource: DataSource,
  id: CampaignId,
  pageSize: number,
): AsyncGenerator<void, void, undefined> {
  for (let after: string | null = ''; after !== null;) {
    const gone: readonly { subscriber_id: string }[] = await forgetExclusions.run(dataSource, {
      ...id,
      after,
      page_size: pageSize,
    });
    after = gone.length < pageSize ? null : lastOf(gone.map((row) => row.subscriber_id));
    yield;
  }
  await forgetCampaign.run(dataSource, id);
}

async function forgetOperations(
  tx: Transaction,
  operations: readonly OperationId[],
  keepTombstones: boolean,
): Promise<void> {
  if (operations.length === 0) return;
  await forget.run(tx, { ...idsOf(operations), keep_tombstones: keepTombstones });
}

/** In the order of the index, which is that of the bytes: a deletion returns rows in no promised order. */
function lastOf(ids: readonly string[]): string | null {
  return ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).at(-1) ?? null;
}
