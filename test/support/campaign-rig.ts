import { completeCampaigns } from '../../src/campaigns/complete-campaign/complete-campaigns.ts';
import { cancelRemaining } from '../../src/campaigns/control-campaign/cancel-remaining.ts';
import { controlCampaign, type Control } from '../../src/campaigns/control-campaign/control-campaign.ts';
import { materialisePage } from '../../src/campaigns/materialise-campaign/materialise-campaign.ts';
import { startDueCampaigns } from '../../src/campaigns/start-campaign/start-due-campaigns.ts';
import { submitCampaign } from '../../src/campaigns/submit-campaign/submit-campaign.ts';
import { inTransaction } from '../../src/database/in-transaction.ts';
import { appendToOutbox } from '../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../src/messaging/outbox/outbox-entry.ts';
import { upsertSubscribers, type SubscriberFact } from '../../src/subscribers/upsert-subscribers.ts';
import { revisionOf, type Revision } from './campaign.ts';
import { createDispatchRig, type DispatchRig } from './dispatch-rig.ts';

export interface CampaignRow {
  readonly state: string;
  readonly state_reason: string | null;
  readonly audience: string | null;
  readonly excluded: string | null;
}

/** A dispatch rig with the steps of a campaign, taken by hand. */
export interface CampaignRig extends DispatchRig {
  /** Subscribers of the list `news`, confirmed, unless told otherwise; index -> `s0000@example.com`. */
  subscribe(facts: readonly (Partial<SubscriberFact> & { readonly subscriberId: string })[]): Promise<void>;
  /** Submits revision 1 and approves it. */
  approved(campaignId: string, parts?: Partial<Revision>): Promise<void>;
  submit(revision: Revision): Promise<void>;
  start(): Promise<number>;
  /** One page; `idle` when nothing is being materialised. */
  page(pageSize?: number): Promise<'more' | 'idle'>;
  materialise(pageSize?: number): Promise<void>;
  control(control: Control, campaignId: string, reason?: string): Promise<void>;
  cancelRemaining(pageSize?: number): Promise<number>;
  complete(): Promise<number>;
  read(campaignId: string): Promise<CampaignRow>;
  exclusions(campaignId: string): Promise<Record<string, string>>;
  /** Operation keys of the campaign, without its prefix. */
  recipients(campaignId: string): Promise<string[]>;
}

export const PEER = { tenantId: 'demo', causationId: 'peer' };

export async function createCampaignRig(databaseUrl: string, template: string): Promise<CampaignRig> {
  const rig = await createDispatchRig(databaseUrl, template);
  const { dataSource, events, outbox: limits } = rig;
  const settings = (pageSize = 500) => ({ pageSize, maxAttempts: 12, outbox: limits });
  const emitting = async (work: (tx: never, outbox: OutboxEntry[]) => Promise<void>): Promise<void> => {
    await inTransaction(dataSource, 'test', async (tx) => {
      const outbox: OutboxEntry[] = [];
      await work(tx as never, outbox);
      await appendToOutbox(tx, outbox, limits);
    });
  };
  const page = async (pageSize?: number): Promise<'more' | 'idle'> =>
    await materialisePage(dataSource, events, settings(pageSize));
  const submit = async (revision: Revision): Promise<void> => {
    const tenant = rig.tenants.get('demo');
    if (!tenant) throw new Error('no tenant');
    await emitting(async (tx, outbox) => {
      const event = { id: `rev-${revision.revision}`, tenantId: 'demo', time: new Date(), data: revision };
      await submitCampaign(tx, outbox, events, tenant, event as never);
    });
  };
  return {
    ...rig,
    subscribe: async (facts) => {
      await inTransaction(dataSource, 'test', async (tx) => await upsertSubscribers(tx, facts.map(subscriberFact)));
    },
    submit,
    approved: async (campaignId, parts = {}) => {
      await submit(revisionOf(campaignId, parts));
      await rig.query(
        `INSERT INTO approvals (tenant_id, object, revision, hash, granted, decided_by, fact_time)
         SELECT tenant_id, 'campaign:' || campaign_id, revision, content_hash, true, 'editor', now() FROM campaigns
         WHERE campaign_id = $1`,
        [campaignId],
      );
      await rig.query(`UPDATE campaigns SET state = 'approved', approved_by = 'editor' WHERE campaign_id = $1`, [
        campaignId,
      ]);
    },
    start: async () => await startDueCampaigns(dataSource),
    page,
    materialise: async (pageSize) => {
      await startDueCampaigns(dataSource);
      while ((await page(pageSize)) === 'more');
    },
    control: async (control, campaignId, reason = 'because') =>
      await emitting(async (tx, outbox) => {
        await controlCampaign(tx, outbox, events, PEER, control, { campaignId, by: 'a person', reason });
      }),
    cancelRemaining: async (pageSize = 500) => await cancelRemaining(dataSource, events, pageSize, limits),
    complete: async () => await completeCampaigns(dataSource, events, limits),
    read: async (campaignId) => {
      const [row] = await rig.query<CampaignRow>('SELECT * FROM campaigns WHERE campaign_id = $1', [campaignId]);
      if (!row) throw new Error(`no campaign ${campaignId}`);
      return row;
    },
    exclusions: async (campaignId) => {
      const rows = await rig.query<{ subscriber_id: string; reason: string }>(
        'SELECT subscriber_id, reason FROM campaign_exclusions WHERE campaign_id = $1',
        [campaignId],
      );
      return Object.fromEntries(rows.map((row) => [row.subscriber_id, row.reason]));
    },
    recipients: async (campaignId) => {
      const rows = await rig.query<{ id: string }>(
        'SELECT subscriber_id AS id FROM operations WHERE campaign_id = $1 ORDER BY subscriber_id',
        [campaignId],
      );
      return rows.map((row) => row.id);
    },
  };
}

function subscriberFact(fact: Partial<SubscriberFact> & { readonly subscriberId: string }): SubscriberFact {
  return {
    tenantId: 'demo',
    status: 'confirmed',
    email: `${fact.subscriberId}@example.com`,
    lists: ['news'],
    attributes: { name: fact.subscriberId },
    locale: null,
    timeZone: null,
    factTime: new Date(),
    ...fact,
  };
}

/** `s0000`, `s0001` and so on, so that their order is that of their numbers. */
export function many(count: number, from = 0): { readonly subscriberId: string }[] {
  return Array.from({ length: count }, (_, index) => ({ subscriberId: `s${String(from + index).padStart(4, '0')}` }));
}
