/** An answer whose status and headers were read whole, and of its body at most MAX_ANSWER_BYTES, or what the call asked for. */
export interface Answer {
  readonly status: number;
  /** Lower-case names; a repeated header is its values joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** false: the body was longer than what is read. */
  readonly whole: boolean;
}

/** Above every answer that says something about one operation. */
export const MAX_ANSWER_BYTES = 256 * 1024;

/** What the answer to a batch may hold more for each of its messages: several times what vendors write. */
export const MAX_ANSWER_BYTES_EACH = 4 * 1024;

/** No server says anything sensible about later than this. */
const LONGEST_WAIT_MS = 3_600_000;

/** The body as JSON, undefined when it is none. Whole numbers that a double cannot hold stay as the text they came in. */
export function jsonOf({ body, whole }: Answer): unknown {
  if (!whole || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'), keepDigits) as unknown;
  } catch {
    return undefined;
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const unsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return unsafe ? (context?.source ?? String(value)) : value;
}

/** The member under these names and indexes, undefined when there is none. Inherited members are not there. */
export function valueAt(value: unknown, ...steps: readonly (string | number)[]): unknown {
  let at = value;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step) as unknown;
  }
  return at;
}

/** A text, or a number as text; null for anything else and for the empty text. */
export function textAt(value: unknown, ...steps: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...steps);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' && found !== '' ? found : null;
}

/** Members of a list; none when it is no list. */
export function listAt(value: unknown, ...steps: readonly (string | number)[]): readonly unknown[] {
  const found = valueAt(value, ...steps);
  return Array.isArray(found) ? (found as unknown[]) : [];
}

/** `Retry-After` in seconds or as a date (RFC 9110 10.2.3) in ms, at most an hour; null when absent or unreadable. */
export function retryAfterMs({ headers }: Pick<Answer, 'headers'>, now = Date.now()): number | null {
  const said = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}$/.test(said)) return bounded(Number(said) * 1000);
  const until = httpDate(said);
  // Against the server's own clock where it shows it.
  return until === null ? null : bounded(until - (httpDate(headers['date'] ?? '') ?? now));
}

/** A moment in seconds since 1970, as some put it into a header of their own, as a wait in ms. */
export function untilEpochMs(seconds: string | undefined, now = Date.now()): number | null {
  return seconds !== undefined && /^\d{9,11}$/.test(seconds) ? bounded(Number(seconds) * 1000 - now) : null;
}

function httpDate(text: string): number | null {
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function bounded(ms: number): number {
  return Math.min(LONGEST_WAIT_MS, Math.max(0, ms));
}
