import type { DataOf } from '../../messaging/contracts/registry.ts';

export type Audience = DataOf<'einmal.campaign.revision-submitted.v1'>['audience'];

/** A subscriber of a page, as the statement gives it. */
export interface PageRow {
  readonly subscriber_id: string;
  readonly status: 'pending' | 'confirmed' | 'unsubscribed' | 'deleted';
  readonly email: string | null;
  readonly address_key: string | null;
  readonly address_fault: string | null;
  readonly lists: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly locale: string | null;
  readonly time_zone: string | null;
  readonly suppressed_scope: string | null;
  readonly suppressed_reason: string | null;
}

/** Why a member of the audience gets no operation. */
export type ExclusionReason = `suppressed-${string}` | 'invalid-address' | 'same-address';

export type Verdict =
  | { readonly kind: 'recipient'; readonly email: string; readonly addressKey: string }
  | { readonly kind: 'excluded'; readonly reason: ExclusionReason }
  | { readonly kind: 'not-meant' };

/** What a subscriber is to this audience. Only who is meant by it can be left out of it. */
export function judge(row: PageRow, audience: Audience): Verdict {
  if (row.status !== 'confirmed' || row.email === null) return { kind: 'not-meant' };
  if (!row.lists.some((list) => audience.lists.includes(list))) return { kind: 'not-meant' };
  if (!meets(row.attributes, audience.where ?? {})) return { kind: 'not-meant' };
  if (row.address_key === null) return { kind: 'excluded', reason: 'invalid-address' };
  if (row.suppressed_reason !== null) return { kind: 'excluded', reason: `suppressed-${row.suppressed_reason}` };
  return { kind: 'recipient', email: row.email, addressKey: row.address_key };
}

function meets(attributes: PageRow['attributes'], where: NonNullable<Audience['where']>): boolean {
  return Object.entries(where).every(([name, wanted]) => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : null;
    return Array.isArray(wanted) ? wanted.some((each) => each === value) : wanted === value;
  });
}
