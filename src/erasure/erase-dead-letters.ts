import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { loadHeaders, type OutboxHeader, type StoredHeader } from '../messaging/outbox/outbox-entry.ts';
import { addressFinder, type AddressFinder } from './address-finder.ts';
import type { ErasePage } from './erasure.ts';

interface DeadLetterRow {
  readonly dead_letter_id: string;
  readonly headers: readonly StoredHeader[];
  /** null also where the bytes hold nothing like the addresses. */
  readonly record_key: Buffer | null;
  readonly record_value: Buffer | null;
}

interface FoundLetters {
  readonly emptied: number;
  /** null: that was the last page. */
  readonly last: string | null;
}

type Page = { after: string; needles: readonly string[]; page_size: number };

const read = loadStatement<Page & { tenant: string }, DeadLetterRow>(import.meta.url, 'read-dead-letters.sql');
const readOfNobody = loadStatement<Page, DeadLetterRow>(import.meta.url, 'read-dead-letters-of-nobody.sql');
const empty = loadStatement<{ dead_letter_ids: string[] }, object>(import.meta.url, 'empty-dead-letters.sql');

/** Each may have megabytes, all of which are searched. */
const LETTERS_PER_PAGE = 100;

export const eraseDeadLetters: ErasePage = async (tx, _outbox, erasure) => {
  const finder = addressFinder(erasure.address_keys);
  const rows = await read.run(tx, { ...pageOf(erasure.position, finder), tenant: erasure.tenant_id });
  const { emptied, last } = await emptyThose(tx, rows, (row) => holds(row, finder));
  const step = last === null ? 'dead-letters-of-nobody' : 'dead-letters';
  return { erased: { deadLetters: emptied }, next: { step, position: last ?? '' } };
};

/** A record that could not even be read has no tenant, unless a header names one. */
export const eraseDeadLettersOfNobody: ErasePage = async (tx, _outbox, erasure) => {
  const finder = addressFinder(erasure.address_keys);
  const rows = await readOfNobody.run(tx, pageOf(erasure.position, finder));
  const { emptied, last } = await emptyThose(
    tx,
    rows,
    (row) => !isOfAnother(row, erasure.tenant_id) && holds(row, finder),
  );
  const step = last === null ? 'outbox' : 'dead-letters-of-nobody';
  return { erased: { deadLetters: emptied }, next: { step, position: last ?? '' } };
};

function pageOf(position: string, finder: AddressFinder): Page {
  return { after: position === '' ? '0' : position, needles: finder.needles, page_size: LETTERS_PER_PAGE };
}

async function emptyThose(
  tx: Transaction,
  rows: readonly DeadLetterRow[],
  about: (row: DeadLetterRow) => boolean,
): Promise<FoundLetters> {
  const ids = rows.filter(about).map((row) => row.dead_letter_id);
  const emptied = ids.length === 0 ? [] : await empty.run(tx, { dead_letter_ids: ids });
  return {
    emptied: emptied.length,
    last: rows.length < LETTERS_PER_PAGE ? null : (rows.at(-1)?.dead_letter_id ?? null),
  };
}

function holds({ record_key, record_value, headers }: DeadLetterRow, finder: AddressFinder): boolean {
  const bytes = [record_key, record_value].filter((each) => each !== null);
  const texts = [...bytes.map(String), ...loadHeaders(headers).flatMap(textsOf)];
  return texts.some((text) => finder.isIn(text));
}

function isOfAnother({ headers }: DeadLetterRow, tenant: string): boolean {
  return loadHeaders(headers).some(([name, value]) => /^ce_tenantid$/i.test(name) && String(value) !== tenant);
}

function textsOf([name, value]: OutboxHeader): string[] {
  return [name, String(value)];
}
