import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { NewOperation } from './insert-operations.ts';

/** `askedAt`: when the request was made; undefined: just now. */
export interface TimedRequest {
  readonly operation: NewOperation;
  readonly askedAt: Date | undefined;
  readonly keyRetentionDays: number;
}

const find = loadStatement<{ times: Date[]; days: number[] }, { place: number }>(import.meta.url, 'find-too-old.sql');

/**
 * Requests that are older, by the database's clock, than their tenant remembers keys: if the ledger does not know them, nobody can
 * tell whether they were carried out before.
 */
export async function findTooOld(tx: Transaction, requests: readonly TimedRequest[]): Promise<Set<NewOperation>> {
  const timed = requests.flatMap(({ askedAt, ...each }) => (askedAt ? [{ ...each, askedAt }] : []));
  if (timed.length === 0) return new Set();
  const found = await find.run(tx, {
    times: timed.map((each) => each.askedAt),
    days: timed.map((each) => each.keyRetentionDays),
  });
  const places = new Set(found.map(({ place }) => place - 1));
  return new Set(timed.flatMap(({ operation }, index) => (places.has(index) ? [operation] : [])));
}
