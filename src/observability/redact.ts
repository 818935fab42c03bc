const REDACTED = '[redacted]';
const MAX_STRING = 2000;
const MAX_DEPTH = 6;
const MAX_ENTRIES = 50;

/** Compared without case, dashes and underscores; a key that ends with one of the longer words is meant too. */
const PERSONAL_KEYS = 'to from cc bcc recipient recipients sender replyto mailbox mailfrom rcptto user username'.split(
  ' ',
);
const SECRET_KEYS = 'pass authorization cookie setcookie sasl credentials auth parameters'.split(' ');
const KEYS = new Set([...PERSONAL_KEYS, ...SECRET_KEYS]);
const KEY_ENDINGS = /(?:e?mail|address|addresses|password|passwd|token|tokens|secret|secrets|apikey|privatekey)$/;

const URL_CREDENTIALS = /(\/\/)[^\s/]{1,1000}@/g;
const BARE_CREDENTIALS = /[^\s:/@"'<>]{1,200}:[^\s"'<>]{1,200}(?<!\/)@[^\s"'<>,;]{1,253}/g;
/** A slash before the @ is a path of a scoped package in a stack, not an address. */
const ADDRESS = /(?:"[^"\r\n]{1,128}"|[^\s"'<>(),:;=@[\]{}]{1,256})(?<!\/)@[^\s"'<>(),:;=@{}]{1,253}/g;

/**
 * A copy of `value` that is safe to log: values of personal and secret keys replaced, anything in text that looks like an
 * address or credentials masked, errors reduced to code, message and stack, and everything bounded in depth, count and length.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return '[function]';
  return typeof value === 'object' && value !== null ? redactObject(value, depth) : value;
}

export function isSensitiveKey(key: string): boolean {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, '');
  return KEYS.has(plain) || KEY_ENDINGS.test(plain);
}

/** Masks addresses and `user:password@`, keeps the rest of the text, and cuts it after 2,000 characters. */
export function maskText(text: string): string {
  // Cut first: the patterns are bounded, but their input should be too.
  const short = text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}…` : text;
  if (!short.includes('@')) return short;
  return short
    .replaceAll(URL_CREDENTIALS, `$1${REDACTED}@`)
    .replaceAll(BARE_CREDENTIALS, (match) => (match.includes(REDACTED) ? match : REDACTED))
    .replaceAll(ADDRESS, (match) => (match.startsWith(`${REDACTED}@`) ? match : REDACTED));
}

function redactObject(value: object, depth: number): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return maskText(value.href);
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return redactItems(value, depth);
  if (value instanceof Map) return redactEntries(value.entries(), depth);
  if (value instanceof Set) return redactItems([...value.values()], depth);
  return redactEntries(Object.entries(value), depth);
}

/** Only these members: drivers hang statements, parameters and row values (`detail`) on their errors. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const { code, retryable, cause } = error as Error & { readonly code?: unknown; readonly retryable?: unknown };
  return {
    name: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof retryable === 'boolean' ? { retryable } : {}),
    message: maskText(error.message),
    ...(error.stack === undefined ? {} : { stack: maskText(error.stack) }),
    ...(cause === undefined ? {} : { cause: redact(cause, depth + 1) }),
  };
}

function redactItems(items: readonly unknown[], depth: number): unknown[] {
  const kept = items.slice(0, MAX_ENTRIES).map((item) => redact(item, depth + 1));
  return items.length > MAX_ENTRIES ? [...kept, `[${items.length - MAX_ENTRIES} more]`] : kept;
}

function redactEntries(entries: Iterable<[unknown, unknown]>, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  let count = 0;
  for (const [key, value] of entries) {
    count += 1;
    if (count > MAX_ENTRIES) continue;
    const name = String(key);
    // An empty value says something and hides nothing.
    const hide = isSensitiveKey(name) && value !== null && value !== undefined;
    Object.defineProperty(result, maskText(name), {
      value: hide ? REDACTED : redact(value, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  if (count > MAX_ENTRIES) result['more'] = count - MAX_ENTRIES;
  return result;
}
