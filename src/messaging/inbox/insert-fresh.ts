import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { DecodedRecord } from './decode-record.ts';

interface Identity {
  readonly source: string;
  readonly event_id: string;
}

const insert = loadStatement<
  Record<'sources' | 'event_ids' | 'tenants' | 'hashes' | 'record_times', unknown[]> & {
    consumer: string;
    retention_days: number;
  },
  Identity
>(import.meta.url, 'insert-fresh.sql');

const findSeen = loadStatement<
  Record<'sources' | 'event_ids', unknown[]> & { consumer: string },
  Identity & { readonly message_hash: Buffer }
>(import.meta.url, 'find-seen.sql');

/** What the inbox says of each record of a chunk; together they are the records given. */
export interface InboxVerdict {
  readonly fresh: DecodedRecord[];
  /** The same message again. */
  readonly duplicates: DecodedRecord[];
  /** Another message under an identity that is taken. */
  readonly conflicts: DecodedRecord[];
  /** Not in the inbox, and older than the inbox remembers: whether it was handled can no longer be told. */
  readonly tooOld: DecodedRecord[];
}

/**
 * Inserts the identities of all records in one statement and sorts the records by what was found.
 * The rows are part of the caller's transaction: they stay only if the handlers' work does.
 */
export async function insertFresh(
  tx: Transaction,
  consumer: string,
  retentionDays: number,
  records: readonly DecodedRecord[],
): Promise<InboxVerdict> {
  const verdict: InboxVerdict = { fresh: [], duplicates: [], conflicts: [], tooOld: [] };
  if (records.length === 0) return verdict;
  const firsts = firstOfEachIdentity(records);
  const distinct = [...firsts.values()];
  const inserted = await insert.run(tx, {
    consumer,
    retention_days: retentionDays,
    sources: distinct.map((each) => each.event.source),
    event_ids: distinct.map((each) => each.event.id),
    tenants: distinct.map((each) => each.event.tenantId),
    hashes: distinct.map((each) => each.hash),
    record_times: distinct.map((each) => each.record.timestamp),
  });
  const insertedKeys = new Set(inserted.map((row) => identityKey(row.source, row.event_id)));
  const seen = await hashesOfSeen(tx, consumer, distinct, insertedKeys);

  for (const each of records) {
    const key = keyOf(each);
    const first = firsts.get(key);
    if (insertedKeys.has(key) && first === each) verdict.fresh.push(each);
    else sortRepeat(verdict, each, insertedKeys.has(key) ? first?.hash : seen.get(key));
  }
  return verdict;
}

function sortRepeat(verdict: InboxVerdict, repeat: DecodedRecord, knownHash: Buffer | undefined): void {
  if (!knownHash) verdict.tooOld.push(repeat);
  else if (knownHash.equals(repeat.hash)) verdict.duplicates.push(repeat);
  else verdict.conflicts.push(repeat);
}

async function hashesOfSeen(
  tx: Transaction,
  consumer: string,
  distinct: readonly DecodedRecord[],
  insertedKeys: ReadonlySet<string>,
): Promise<Map<string, Buffer>> {
  const seen = distinct.filter((each) => !insertedKeys.has(keyOf(each)));
  if (seen.length === 0) return new Map();
  const rows = await findSeen.run(tx, {
    consumer,
    sources: seen.map((each) => each.event.source),
    event_ids: seen.map((each) => each.event.id),
  });
  return new Map(rows.map((row) => [identityKey(row.source, row.event_id), row.message_hash]));
}

function firstOfEachIdentity(records: readonly DecodedRecord[]): Map<string, DecodedRecord> {
  const firsts = new Map<string, DecodedRecord>();
  for (const each of records) if (!firsts.has(keyOf(each))) firsts.set(keyOf(each), each);
  return firsts;
}

function keyOf(each: DecodedRecord): string {
  return identityKey(each.event.source, each.event.id);
}

function identityKey(source: string, eventId: string): string {
  return `${source.length}:${source}${eventId}`;
}
