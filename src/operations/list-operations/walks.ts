import { loadStatement, type Executor } from '../../database/statement.ts';
import type { OperationState } from '../operation.states.ts';

/** The ways through the ledger that an index serves. */
export const WALK_NAMES = ['ended', 'awaiting', 'unknown', 'leased', 'campaign', 'queue'] as const;
export type WalkName = (typeof WALK_NAMES)[number];

export interface ListFilters {
  readonly state: OperationState | null;
  readonly campaign: string | null;
  readonly provider: string | null;
  /** Since the last change; of what is unknown, since it is. */
  readonly olderThanSeconds: number | null;
}

/** Where a page ended. */
export interface ListPosition {
  readonly walk: WalkName;
  /** A time to the microsecond, RFC 3339; empty where the id says all. */
  readonly position: string;
  readonly operationId: string;
}

export interface WalkedRow {
  readonly operation_id: string;
  /** Whether it passes the filters that the index does not know. */
  readonly matches: boolean;
  readonly position: string;
}

export interface Walk {
  readonly hasPages: boolean;
  /** Whether these filters leave out rows that the walk goes over. */
  leavesOut(filters: ListFilters): boolean;
  run(
    executor: Executor,
    tenant: string,
    filters: ListFilters,
    after: ListPosition | null,
    scan: number,
  ): Promise<WalkedRow[]>;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Common = { tenant: string; provider: string | null; older_than_seconds: number | null; scan: number };
type ByTime = Common & { campaign: string | null; since: string; after_id: string };

const ended = loadStatement<ByTime & { state: string | null }, WalkedRow>(import.meta.url, 'walk-ended.sql');
const leased = loadStatement<ByTime & { state: string | null }, WalkedRow>(import.meta.url, 'walk-leased.sql');
const awaiting = loadStatement<ByTime, WalkedRow>(import.meta.url, 'walk-awaiting.sql');
const unknown = loadStatement<ByTime, WalkedRow>(import.meta.url, 'walk-unknown.sql');
const ofCampaign = loadStatement<
  Common & { campaign: string | null; state: string | null; after_id: string },
  WalkedRow
>(import.meta.url, 'walk-campaign.sql');
const queue = loadStatement<Common, WalkedRow>(import.meta.url, 'walk-queue.sql');

/** As the index operations_ended_badly has them. */
const ENDED: readonly OperationState[] = [
  'suppressed',
  'rejected',
  'expired',
  'cancelled',
  'dead',
  'bounced',
  'complained',
];

/**
 * The way for these filters; null when there is none. States with an index of their own go by it, all others by their campaign,
 * and what waits for its turn by its provider.
 */
export function walkOf({ state, campaign, provider }: ListFilters): WalkName | null {
  if (state !== null && ENDED.includes(state)) return 'ended';
  if (state === 'awaiting-approval') return 'awaiting';
  if (state === 'unknown') return 'unknown';
  if (state === 'claimed' || state === 'calling') return 'leased';
  if (campaign !== null) return 'campaign';
  return state === 'queued' && provider !== null ? 'queue' : null;
}

/** What `walkOf` allows, in words. */
export const ALLOWED_FILTERS: readonly string[] = [
  `state of ${ENDED.join(', ')}, awaiting-approval, unknown, claimed or calling, with any other filters`,
  'campaign, with any other filters',
  'state=queued with provider: the first of the queue, without further pages',
];

const byProviderOrCampaign = ({ provider, campaign }: ListFilters): boolean => provider !== null || campaign !== null;

export const WALKS: Readonly<Record<WalkName, Walk>> = {
  ended: {
    hasPages: true,
    leavesOut: byProviderOrCampaign,
    run: async (executor, tenant, filters, after, scan) =>
      await ended.run(executor, { ...byTime(tenant, filters, after, scan), state: filters.state }),
  },
  leased: {
    hasPages: true,
    leavesOut: byProviderOrCampaign,
    run: async (executor, tenant, filters, after, scan) =>
      await leased.run(executor, { ...byTime(tenant, filters, after, scan), state: filters.state }),
  },
  awaiting: {
    hasPages: true,
    leavesOut: byProviderOrCampaign,
    run: async (executor, tenant, filters, after, scan) =>
      await awaiting.run(executor, byTime(tenant, filters, after, scan)),
  },
  unknown: {
    hasPages: true,
    leavesOut: byProviderOrCampaign,
    run: async (executor, tenant, filters, after, scan) =>
      await unknown.run(executor, byTime(tenant, filters, after, scan)),
  },
  campaign: {
    hasPages: true,
    leavesOut: ({ state, provider, olderThanSeconds }) =>
      state !== null || provider !== null || olderThanSeconds !== null,
    run: async (executor, tenant, filters, after, scan) =>
      await ofCampaign.run(executor, {
        ...common(tenant, filters, scan),
        campaign: filters.campaign,
        state: filters.state,
        after_id: after?.operationId ?? FIRST_ID,
      }),
  },
  queue: {
    hasPages: false,
    leavesOut: ({ olderThanSeconds }) => olderThanSeconds !== null,
    run: async (executor, tenant, filters, _after, scan) => await queue.run(executor, common(tenant, filters, scan)),
  },
};

function common(tenant: string, { provider, olderThanSeconds }: ListFilters, scan: number): Common {
  return { tenant, provider, older_than_seconds: olderThanSeconds, scan };
}

function byTime(tenant: string, filters: ListFilters, after: ListPosition | null, scan: number): ByTime {
  return {
    ...common(tenant, filters, scan),
    campaign: filters.campaign,
    since: after?.position ?? '-infinity',
    after_id: after?.operationId ?? FIRST_ID,
  };
}
