/** What a scan found: the number of members in all objects, or the rule that the text breaks. */
export type JsonScan =
  | { readonly ok: true; readonly members: number }
  | { readonly ok: false; readonly reason: 'too-deep' | 'unparseable'; readonly detail: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** 15 digits always survive a double; a longer token, or one with a sign or an exponent, is looked at exactly. */
const SAFE_NUMBER_LENGTH = 15;

const NUMBER = /[-+.0-9eE]+/y;
const INTEGER = /^-?\d+$/;
const NOT_ZERO = /[1-9]/;

/**
 * One pass, without recursion, over text that JSON.parse has yet to judge: nesting beyond `maxDepth` (counted in objects
 * and lists) and numbers that would not survive parsing. Grammar is left to JSON.parse; for text that passes it, `members`
 * is exact, and fewer keys in the parsed value mean repeated names.
 */
export function scanJson(text: string, maxDepth: number): JsonScan {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfString(text, at);
    } else if (unit === COLON) {
      members += 1;
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      depth += 1;
      if (depth > maxDepth) {
        return { ok: false, reason: 'too-deep', detail: `the JSON is nested deeper than ${maxDepth}` };
      }
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      depth -= 1;
    } else if (unit === MINUS || (unit >= DIGIT_0 && unit <= DIGIT_9)) {
      const token = numberAt(text, at);
      const flaw = numberFlaw(token);
      if (flaw !== null) {
        return { ok: false, reason: 'unparseable', detail: flaw };
      }
      at += token.length - 1;
    }
  }
  return { ok: true, members };
}

/** The place of the closing quote, or the end of the text when there is none. */
function endOfString(text: string, openingQuote: number): number {
  let end = text.indexOf('"', openingQuote + 1);
  while (end !== -1 && isEscaped(text, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1;
  while (text.charCodeAt(at) === BACKSLASH) {
    at -= 1;
  }
  return (quote - at) % 2 === 0;
}

function numberAt(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? '-';
}

function numberFlaw(token: string): string | null {
  const plain = token.length <= SAFE_NUMBER_LENGTH && token.charCodeAt(0) !== MINUS && !/[eE]/.test(token);
  return plain ? null : exactNumberFlaw(token);
}

function exactNumberFlaw(token: string): string | null {
  const value = Number(token);
  if (Number.isNaN(value)) {
    return null;
  }
  if (!Number.isFinite(value)) {
    return 'a number is too large to be kept';
  }
  if (value === 0 && (token.startsWith('-') || NOT_ZERO.test(mantissa(token)))) {
    return 'minus zero, or a number too small to be kept';
  }
  return INTEGER.test(token) && losesDigits(token, value)
    ? 'a whole number has more digits than can be kept; send it as text'
    : null;
}

/**
 * A fraction is rounded by everyone who reads it; a whole number that changes is another identity. ECMAScript peers write
 * large doubles with the fewest digits that read back as the same double: text that would be written again is kept too.
 */
function losesDigits(token: string, value: number): boolean {
  return String(value) !== token && BigInt(value) !== BigInt(token);
}

function mantissa(token: string): string {
  return token.split(/[eE]/, 1)[0] ?? token;
}
