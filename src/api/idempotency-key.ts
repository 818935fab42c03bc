/** The key of a header, or the rule that it breaks. */
export type HeaderKey = { readonly ok: true; readonly key: string } | { readonly ok: false; readonly rule: string };

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
/** As RFC 8187 writes values that are not ASCII, without a language. */
const ENCODED = /^UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-Fa-f]{2})*)$/i;
const ENCODED_BEGIN = /^UTF-8''/i;

/**
 * The operation key of an `Idempotency-Key` header. Header values are bytes without a charset, so a key of visible ASCII stands
 * there as it is, and any other is percent-encoded UTF-8: `UTF-8''order%2017`. Quotes around it are refused rather than guessed
 * about: `"a"` and `a` would be two keys.
 */
export function readIdempotencyKey(value: string): HeaderKey {
  if (ENCODED_BEGIN.test(value)) return decoded(value);
  if (!VISIBLE_ASCII.test(value)) return refused("must be visible ASCII, or UTF-8'' and percent-encoded UTF-8");
  if (value.startsWith('"')) return refused("must not begin with a quote; a key that does is written UTF-8''%22...");
  return { ok: true, key: value };
}

function decoded(value: string): HeaderKey {
  const encoded = ENCODED.exec(value)?.[1];
  if (encoded === undefined) return refused("must have after UTF-8'' only unreserved characters and %XX");
  try {
    return { ok: true, key: decodeURIComponent(encoded) };
  } catch {
    return refused("must have valid UTF-8 after UTF-8''");
  }
}

function refused(rule: string): HeaderKey {
  return { ok: false, rule };
}
