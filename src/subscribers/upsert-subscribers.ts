import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { ADDRESS_KEY_VERSION, parseAddress } from '../mail/address.ts';

export interface SubscriberFact {
  readonly tenantId: string;
  readonly subscriberId: string;
  readonly status: 'pending' | 'confirmed' | 'unsubscribed' | 'deleted';
  /** As the peer gave it; `null` once the subscriber is deleted. */
  readonly email: string | null;
  readonly lists: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly locale: string | null;
  readonly timeZone: string | null;
  readonly factTime: Date;
}

const upsert = loadStatement<
  Record<
    | 'tenants'
    | 'subscriber_ids'
    | 'statuses'
    | 'emails'
    | 'address_sends'
    | 'address_keys'
    | 'key_versions'
    | 'address_faults'
    | 'lists'
    | 'attributes'
    | 'locales'
    | 'time_zones'
    | 'fact_times',
    unknown[]
  >,
  never
>(import.meta.url, 'upsert-subscribers.sql');

/**
 * Stores facts about subscribers, the newest of each. An address that cannot be mailed is kept with the rule it breaks:
 * the subscriber is there and is left out of every audience with that reason.
 *
 * @param facts each subscriber at most once
 */
export async function upsertSubscribers(tx: Transaction, facts: readonly SubscriberFact[]): Promise<void> {
  const rows = facts.map((fact) => ({ fact, address: fact.email === null ? null : parseAddress(fact.email) }));
  const column = <T>(pick: (row: (typeof rows)[number]) => T): T[] => rows.map(pick);
  await upsert.run(tx, {
    tenants: column(({ fact }) => fact.tenantId),
    subscriber_ids: column(({ fact }) => fact.subscriberId),
    statuses: column(({ fact }) => fact.status),
    emails: column(({ fact }) => fact.email),
    address_sends: column(({ address }) => (address?.ok ? address.send : null)),
    address_keys: column(({ address }) => (address?.ok ? address.key : null)),
    key_versions: column(({ address }) => (address?.ok ? ADDRESS_KEY_VERSION : null)),
    address_faults: column(({ address }) => (address && !address.ok ? address.rule : null)),
    lists: column(({ fact }) => JSON.stringify(fact.lists)),
    attributes: column(({ fact }) => JSON.stringify(fact.attributes)),
    locales: column(({ fact }) => fact.locale),
    time_zones: column(({ fact }) => fact.timeZone),
    fact_times: column(({ fact }) => fact.factTime),
  });
}
