/** Text as PostgreSQL can store it. `escaped` says that something had to be replaced. */
export interface StorableText {
  readonly text: string;
  readonly escaped: boolean;
}

/** JSON as PostgreSQL can store it, as `json`, `jsonb` or `text`. */
export interface StorableJson {
  readonly json: string;
  readonly escaped: boolean;
}

// oxlint-disable-next-line no-control-regex -- U+0000 is what this file is about
const UNSTORABLE = /\u0000|\p{Cs}/gu;

/**
 * In the output of JSON.stringify these escapes mean exactly U+0000 and lone surrogates; the first alternative steps over
 * escaped backslashes, behind which the same letters are plain text.
 */
const UNSTORABLE_IN_JSON = /\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g;

/**
 * Replaces U+0000 and lone surrogates, which PostgreSQL's `text` refuses, by the six characters that JSON writes for them:
 * a backslash, `u` and four lower-case hex digits (`\u0000`, `\ud800`). Text that holds those six characters itself stays
 * as it is; only `escaped` tells the two apart.
 */
export function storableText(text: string): StorableText {
  if (text.isWellFormed() && !text.includes('\u0000')) {
    return { text, escaped: false };
  }
  const safe = text.replace(UNSTORABLE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return { text: safe, escaped: true };
}

/** The limit of `reason` in the contracts, in UTF-16 code units. */
const MAX_REASON_LENGTH = 1000;

/** A reason put together of what a peer gave: storable, and no longer than the facts that repeat it may hold. */
export function storableReason(text: string): string {
  const safe = storableText(text).text;
  if (safe.length <= MAX_REASON_LENGTH) return safe;
  // A cut through a pair would leave half of it.
  return safe.slice(0, MAX_REASON_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

/**
 * JSON of a value in which every string and every member name is made storable as in {@link storableText}. `jsonb` refuses
 * the escape `\u0000` and lone surrogate escapes, so they appear as text (`\\u0000`). Throws what JSON.stringify throws.
 */
export function storableJson(value: unknown): StorableJson {
  const json = JSON.stringify(value) ?? 'null';
  if (!json.includes('\\u')) {
    return { json, escaped: false };
  }
  let escaped = false;
  const safe = json.replace(UNSTORABLE_IN_JSON, (found) => {
    if (found === '\\\\') {
      return found;
    }
    escaped = true;
    return `\\${found}`;
  });
  return { json: safe, escaped };
}
