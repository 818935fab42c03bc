import { readFile } from 'node:fs/promises';

/**
 * Rows of a CSV file as RFC 4180 has it: fields in quotes may hold commas, line ends and doubled quotes. The first row names
 * the columns.
 * @throws Error when a column of `columns` is missing or a row has another number of fields than the first
 */
export async function readCsv<C extends string>(file: string, columns: readonly C[]): Promise<Record<C, string>[]> {
  const [names = [], ...rows] = parseCsv(await readFile(file, 'utf8'));
  const places = columns.map((column) => {
    const place = names.indexOf(column);
    if (place < 0) throw new Error(`${file} has no column ${column}`);
    return [column, place] as const;
  });
  return rows.map((row, index) => {
    if (row.length !== names.length) throw new Error(`${file}: row ${index + 2} has ${row.length} fields`);
    return Object.fromEntries(places.map(([column, place]) => [column, row[place] ?? ''])) as Record<C, string>;
  });
}

/** One field with the separator before it, so that no match is empty; sticky, so that nothing between two is skipped. */
const FIELD = /(,|\r?\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/gy;

/** @throws Error at a quote that stands where none may */
export function parseCsv(text: string): string[][] {
  const body = `\n${text.replace(/^\u{feff}/u, '').replace(/\r?\n$/, '')}`;
  const rows: string[][] = [];
  let end = 0;
  for (const [whole, separator, inQuotes, plain = ''] of body.matchAll(FIELD)) {
    end += whole.length;
    const field = inQuotes?.replaceAll('""', '"') ?? plain;
    const row = rows.at(-1);
    if (separator === ',' && row) row.push(field);
    else rows.push([field]);
  }
  if (end !== body.length) throw new Error(`not CSV after ${rows.length} rows`);
  return rows;
}
