import { createHash } from 'node:crypto';

/** One request as it goes over the wire, without credentials. */
export interface WireRequest {
  readonly method: string;
  /** With the path of the base URL and the query; begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** What HTTP can carry; more would be refused, or read as another header, on the way. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const PATH = /^\/[\x21\x22\x24-\x7e]*$/;

/** What keeps a request from the wire for ever, or null. Values are not shown. */
export function unsendable({ path, headers }: WireRequest): string | null {
  if (!PATH.test(path)) return 'path: must be ASCII without blanks and #';
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) return 'headers: has a name that HTTP cannot carry';
    if (!HEADER_VALUE.test(value)) return `headers.${name}: has characters that HTTP cannot carry`;
  }
  return null;
}

export function wireBytes({ path, headers, body }: WireRequest): number {
  const inHeaders = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  return path.length + inHeaders + (body?.length ?? 0);
}

/**
 * SHA-256 over what is asked: method, path, headers by name, body. Neither credentials nor the host: whom it is asked of is
 * the provider's `account`.
 */
export function wireHash({ method, path, headers, body }: WireRequest): Buffer {
  const named = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const hash = createHash('sha256').update(`${JSON.stringify([method, path, named])}\n`);
  if (body !== null) hash.update(body);
  return hash.digest();
}

/** Headers of a mail API's request with a JSON body. */
export const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' } as const;
