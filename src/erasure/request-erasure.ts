import { randomUUID } from 'node:crypto';
import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { parseAddress } from '../mail/address.ts';
import { scrubAddresses } from '../mail/scrub-addresses.ts';
import { NOTHING_ERASED } from './erasure.ts';

/** Who is to be erased: everybody with this address, or one subscriber with the address that is known of them. */
export type Person = { readonly email: string } | { readonly subscriberId: string };

export interface ErasureOrder {
  readonly tenantId: string;
  readonly person: Person;
  /** The name of the token, or what else asks. */
  readonly actor: string;
  readonly reason: string;
}

export type ErasureRequested =
  | { readonly kind: 'requested'; readonly erasureId: string }
  /** `rule` says which rule of addresses is broken, without the text. */
  | { readonly kind: 'not-an-address'; readonly rule: string };

interface FoundSubscriber {
  readonly subscriber_id: string;
  readonly address_key: string | null;
}

interface NewErasure {
  readonly order: Omit<ErasureOrder, 'person'>;
  readonly erasureId: string;
  readonly subscriberIds: readonly string[];
  readonly addressKeys: readonly string[];
  readonly subscribers: number;
}

const findByAddress = loadStatement<{ tenant: string; address_key: string }, FoundSubscriber>(
  import.meta.url,
  'find-by-address.sql',
);
const findByIds = loadStatement<
  { tenants: string[]; subscriber_ids: string[] },
  FoundSubscriber & { readonly tenant_id: string }
>(import.meta.url, 'find-by-ids.sql');
const emptySubscribers = loadStatement<{ tenants: string[]; subscriber_ids: string[] }, object>(
  import.meta.url,
  'empty-subscribers.sql',
);
const insert = loadStatement<
  Record<'tenants' | 'erasure_ids' | 'actors' | 'reasons' | 'subscriber_ids' | 'address_keys' | 'reports', string[]>,
  never
>(import.meta.url, 'insert-erasures.sql');

/** The limits of the audit's texts. */
const ACTOR_LENGTH = 200;
const REASON_LENGTH = 1000;

/** Empties the subscribers and leaves the rest to `erasePage`, which anybody may go on with. */
export async function requestErasure(tx: Transaction, order: ErasureOrder): Promise<ErasureRequested> {
  const { tenantId: tenant, person } = order;
  if ('subscriberId' in person) {
    const found = await findByIds.run(tx, { tenants: [tenant], subscriber_ids: [person.subscriberId] });
    return await emptyAndInsert(tx, order, found, addressesOf(found));
  }
  const address = parseAddress(person.email);
  if (!address.ok) return { kind: 'not-an-address', rule: address.rule };
  const found = await findByAddress.run(tx, { tenant, address_key: address.key });
  return await emptyAndInsert(tx, order, found, [address.key]);
}

async function emptyAndInsert(
  tx: Transaction,
  order: ErasureOrder,
  found: readonly FoundSubscriber[],
  addressKeys: readonly string[],
): Promise<ErasureRequested> {
  const subscriberIds = found.map((row) => row.subscriber_id);
  const emptied = await emptySubscribers.run(tx, {
    tenants: found.map(() => order.tenantId),
    subscriber_ids: subscriberIds,
  });
  const erasureId = randomUUID();
  await insertErasures(tx, [{ order, erasureId, subscriberIds, addressKeys, subscribers: emptied.length }]);
  return { kind: 'requested', erasureId };
}

/**
 * The same for subscribers whom the caller empties itself, right after this.
 *
 * @param orders each subscriber at most once
 */
export async function requestErasures(
  tx: Transaction,
  orders: readonly (Omit<ErasureOrder, 'person'> & { readonly subscriberId: string })[],
): Promise<void> {
  if (orders.length === 0) return;
  const rows = await findByIds.run(tx, {
    tenants: orders.map((order) => order.tenantId),
    subscriber_ids: orders.map((order) => order.subscriberId),
  });
  const found = new Map(rows.map((row) => [JSON.stringify([row.tenant_id, row.subscriber_id]), row]));
  const erasures = orders.map((order): NewErasure => {
    const row = found.get(JSON.stringify([order.tenantId, order.subscriberId]));
    return {
      order,
      erasureId: randomUUID(),
      subscriberIds: [order.subscriberId],
      addressKeys: row ? addressesOf([row]) : [],
      subscribers: 1,
    };
  });
  await insertErasures(tx, erasures);
}

async function insertErasures(tx: Transaction, erasures: readonly NewErasure[]): Promise<void> {
  await insert.run(tx, {
    tenants: erasures.map(({ order }) => order.tenantId),
    erasure_ids: erasures.map(({ erasureId }) => erasureId),
    actors: erasures.map(({ order }) => scrubAddresses(order.actor, [], ACTOR_LENGTH)),
    reasons: erasures.map(({ order }) => scrubAddresses(order.reason, [], REASON_LENGTH)),
    subscriber_ids: erasures.map(({ subscriberIds }) => JSON.stringify(subscriberIds)),
    address_keys: erasures.map(({ addressKeys }) => JSON.stringify(addressKeys)),
    reports: erasures.map(({ subscribers }) => JSON.stringify({ ...NOTHING_ERASED, subscribers })),
  });
}

function addressesOf(found: readonly FoundSubscriber[]): string[] {
  return found.flatMap(({ address_key: key }) => (key === null ? [] : [key]));
}
