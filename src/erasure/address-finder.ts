import { domainToUnicode } from 'node:url';

/** Finds addresses in texts that nobody could read as what they should have been. */
export interface AddressFinder {
  /** ASCII in lower case; a text without any of them holds none of the addresses. */
  readonly needles: readonly string[];
  /** Whether one of the addresses stands in the text, in any case, and as JSON may escape it. */
  isIn(text: string): boolean;
}

/** Characters that go on with a local part or a domain; slash, quote and `=` stand before addresses in keys and URLs. */
const NOT_BEFORE = String.raw`(?<![\p{L}\p{N}._+%#~^*!$-])`;
const NOT_AFTER = String.raw`(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])`;

/** @param addressKeys `key` of parsed addresses */
export function addressFinder(addressKeys: readonly string[]): AddressFinder {
  const spellings = [...new Set(addressKeys.flatMap(spellingsOf))];
  const forms = spellings.map((text) => new RegExp(`${NOT_BEFORE}${literally(text)}${NOT_AFTER}`, 'u'));
  return {
    needles: [...new Set(spellings.map(longestAscii))],
    isIn: (text) => [text, unescaped(text)].map(folded).some((each) => forms.some((form) => form.test(each))),
  };
}

/** A domain is written in ASCII or in the letters of its language. */
function spellingsOf(key: string): string[] {
  const at = key.lastIndexOf('@');
  return [key, `${key.slice(0, at)}@${folded(domainToUnicode(key.slice(at + 1)))}`];
}

/** Letters outside ASCII have cases and escapes that a search for bytes does not know. */
function longestAscii(text: string): string {
  const runs = text.match(/[a-z0-9@._+-]+/g) ?? ['@'];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest));
}

/** As keys are folded. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, unit: string | undefined, plain: string | undefined) =>
    unit === undefined ? (/[bfnrt]/.test(plain ?? '') ? ' ' : (plain ?? '')) : String.fromCharCode(parseInt(unit, 16)),
  );
}
