import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { endedEvents, type EndedRow } from '../operations/ended-row.ts';
import { operationId } from '../operations/operation-id.ts';
import { idsOf, type OperationId } from '../retention/find-campaign-operations.ts';
import { scrubOperations } from '../retention/scrub-operations.ts';
import type { ErasePage, ErasureReport } from './erasure.ts';

type Ids = ReturnType<typeof idsOf>;

const findSingles = loadStatement<{ tenant: string; address_keys: readonly string[]; page_size: number }, OperationId>(
  import.meta.url,
  'find-operations.sql',
);
const readCampaigns = loadStatement<{ tenant: string; after: string; page_size: number }, { campaign_id: string }>(
  import.meta.url,
  'read-campaigns.sql',
);
const findOfCampaigns = loadStatement<
  Ids & { campaign_tenants: string[]; campaigns: string[]; address_keys: readonly string[] },
  OperationId
>(import.meta.url, 'find-campaign-operations.sql');
const renameExclusions = loadStatement<
  { campaign_tenants: string[]; campaigns: string[]; subscriber_ids: readonly string[] },
  object
>(import.meta.url, 'rename-exclusions.sql');
const cancelUncalled = loadStatement<Ids, EndedRow>(import.meta.url, 'cancel-uncalled.sql');

/** Campaigns of one page: each costs a few looks into an index for each address and subscriber. */
const CAMPAIGNS_PER_PAGE = 200;

/** Operations that were asked for by address. */
export const eraseSingles: ErasePage = async (tx, outbox, erasure, { events, pageSize }) => {
  const { tenant_id: tenant, address_keys } = erasure;
  const found = await findSingles.run(tx, { tenant, address_keys, page_size: pageSize });
  const erased = await eraseOperations(tx, outbox, events, found);
  const step = found.length < pageSize ? 'campaigns' : 'operations';
  return { erased, next: { step, position: '' } };
};

/** Operations of campaigns, one page of the tenant's campaigns at a time, and where the person was left out of one. */
export const eraseOfCampaigns: ErasePage = async (tx, outbox, erasure, { events }) => {
  const { tenant_id: tenant, address_keys, subscriber_ids, position } = erasure;
  const page = await readCampaigns.run(tx, { tenant, after: position, page_size: CAMPAIGNS_PER_PAGE });
  const campaigns = page.map((row) => row.campaign_id);
  const ids = campaigns.flatMap((campaign) =>
    subscriber_ids.map((subscriber) => operationId(tenant, `campaign:${campaign}:${subscriber}`)),
  );
  const places = { campaign_tenants: campaigns.map(() => tenant), campaigns };
  const found = await findOfCampaigns.run(tx, {
    ...places,
    address_keys,
    tenants: ids.map(() => tenant),
    operation_ids: ids,
  });
  const erased = await eraseOperations(tx, outbox, events, found);
  const renamed = await renameExclusions.run(tx, { ...places, subscriber_ids });
  const last = campaigns.length < CAMPAIGNS_PER_PAGE ? undefined : campaigns.at(-1);
  return {
    erased: { ...erased, campaignExclusions: renamed.length },
    next: last === undefined ? { step: 'receipts', position: '' } : { step: 'campaigns', position: last },
  };
};

/**
 * What is not called yet ends; what is being called or is unknown keeps its state, and will not be tried again, since it has no
 * request any more.
 */
async function eraseOperations(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  found: readonly OperationId[],
): Promise<Partial<ErasureReport>> {
  if (found.length === 0) return {};
  // In the order in which everybody locks them.
  const operations = found.toSorted((a, b) => (a.operation_id < b.operation_id ? -1 : 1));
  const cancelled = await cancelUncalled.run(tx, idsOf(operations));
  outbox.push(...endedEvents(events, 'cancelled', cancelled));
  return { ...(await scrubOperations(tx, operations)), cancelled: cancelled.length };
}
