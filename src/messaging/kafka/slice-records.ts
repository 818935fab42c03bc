/** What a record costs in a record batch besides key, value and headers: lengths, deltas, attributes; generously. */
const RECORD_OVERHEAD_BYTES = 40;
const HEADER_OVERHEAD_BYTES = 8;

interface SizedRecord {
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string | Buffer | readonly (string | Buffer)[]>>;
}

/** Cuts, in order, into slices of at most `maxBytes` as Kafka would store them uncompressed; a larger record is alone. */
export function sliceBySize<T extends SizedRecord>(records: readonly T[], maxBytes: number): (readonly T[])[] {
  const slices: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = storedSize(record);
    if (bytes + size > maxBytes) {
      slices.push([]);
      bytes = 0;
    }
    slices.at(-1)?.push(record);
    bytes += size;
  }
  return slices;
}

export function halves<T>(slice: readonly T[]): [readonly T[], readonly T[]] {
  const middle = Math.ceil(slice.length / 2);
  return [slice.slice(0, middle), slice.slice(middle)];
}

function storedSize({ key, value, headers }: SizedRecord): number {
  let size = RECORD_OVERHEAD_BYTES + lengthOf(key) + lengthOf(value);
  for (const [name, given] of Object.entries(headers)) {
    const values = typeof given === 'string' || Buffer.isBuffer(given) ? [given] : given;
    for (const value of values) size += HEADER_OVERHEAD_BYTES + Buffer.byteLength(name) + lengthOf(value);
  }
  return size;
}

function lengthOf(content: Buffer | string | null): number {
  return content === null ? 0 : Buffer.byteLength(content);
}
