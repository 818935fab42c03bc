import { loadStatement, type Executor } from '../../database/statement.ts';

export interface UnknownRow {
  readonly operation_id: string;
  readonly operation_key: string;
  readonly claim_seq: string;
  readonly campaign_id: string | null;
  readonly provider: string;
  readonly on_unknown: 'hold' | 'resend' | 'assume-sent';
  readonly state_reason: string | null;
  readonly unknown_since: Date;
  /** `unknown_since` to the microsecond, RFC 3339. */
  readonly position: string;
  /** Whole seconds by the database's clock. */
  readonly age_seconds: number;
  readonly needs_person: boolean;
  /** null: never by itself. */
  readonly next_look_at: Date | null;
  readonly now: Date;
}

export interface UnknownsPage {
  readonly tenant: string;
  readonly limit: number;
  /** The last row of the page before. */
  readonly after: { readonly position: string; readonly operationId: string } | null;
  readonly provider: string | null;
  readonly campaign: string | null;
  readonly olderThanSeconds: number | null;
}

const list = loadStatement<
  {
    tenant: string;
    limit: number;
    since: string;
    after_id: string;
    provider: string | null;
    campaign: string | null;
    older_than_seconds: number | null;
  },
  UnknownRow
>(import.meta.url, 'list-unknowns.sql');

const FIRST = { position: '-infinity', operationId: '00000000-0000-0000-0000-000000000000' };

/** What a tenant does not know, oldest first, whoever is looking at it right now. */
export async function listUnknowns(executor: Executor, page: UnknownsPage): Promise<UnknownRow[]> {
  const { tenant, limit, provider, campaign } = page;
  const { position, operationId } = page.after ?? FIRST;
  return await list.run(executor, {
    tenant,
    limit,
    since: position,
    after_id: operationId,
    provider,
    campaign,
    older_than_seconds: page.olderThanSeconds,
  });
}
