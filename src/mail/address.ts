import { createHash } from 'node:crypto';
import tr46 from 'tr46';

/** Rises when the rules of `key` change; stored beside every key so that old ones can be found again. */
export const ADDRESS_KEY_VERSION = 1;

/** RFC 5321 4.5.3.1: octets of the local part, and of a path (256) without its angle brackets. */
const MAX_LOCAL_PART_OCTETS = 64;
const MAX_ADDRESS_OCTETS = 254;
/** Far above any address that could pass, so that no long text reaches the slower steps. */
const MAX_INPUT_LENGTH = 1000;

export interface ParsedAddress {
  readonly ok: true;
  /** As given, without surrounding white space. */
  readonly raw: string;
  /** For the envelope and the To header: NFC, local part in the case given, domain in lower-case A-labels. */
  readonly send: string;
  /** Identity for deduplication and suppression: `send` with the local part folded to lower case. */
  readonly key: string;
  readonly keyVersion: typeof ADDRESS_KEY_VERSION;
  /** True when the local part is not ASCII: the server must offer SMTPUTF8 (RFC 6531). */
  readonly smtputf8: boolean;
}
/** `rule` says in words which rule is broken; it never holds the address. */
export interface RefusedAddress {
  readonly ok: false;
  readonly rule: string;
}

type Part = { readonly ok: true; readonly value: string } | RefusedAddress;

const OTHER_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u;
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029]/u;
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\-\u{80}-\u{10ffff}]+(?:\.[\w!#$%&'*+/=?^`{|}~\-\u{80}-\u{10ffff}]+)*$/u;
const ALL_DOTS_OF_IDNA = /[.\u3002\uff0e\uff61]$/u;

/**
 * Identity of one address that a peer gave. Nothing is guessed: dots and plus tags stay, no provider is special.
 * The local part is folded although RFC 5321 2.4 calls it case-sensitive: two mails to one person and a missed
 * suppression are the common harm, a case-sensitive mailbox is the rare one. Mail goes out in the case given.
 *
 * @param input One address without display name.
 * @returns The three forms of the address, or the rule that it breaks.
 */
export function parseAddress(input: string): ParsedAddress | RefusedAddress {
  if (input.length > MAX_INPUT_LENGTH) return refused('the address is longer than 254 octets');
  if (CONTROL_CHARACTERS.test(input)) return refused('the address holds a control character');
  const raw = input.trim();
  const cut = splitAtSign(raw);
  if (!cut.ok) return cut;
  const local = cut.quoted ? quotedLocalPart(cut.local) : plainLocalPart(cut.local);
  if (!local.ok) return local;
  const domain = parseDomain(cut.domain);
  if (!domain.ok) return domain;
  const send = `${local.value}@${domain.value}`;
  if (octets(local.value) > MAX_LOCAL_PART_OCTETS) return refused('the local part is longer than 64 octets');
  if (octets(send) > MAX_ADDRESS_OCTETS) return refused('the address is longer than 254 octets');
  return {
    ok: true,
    raw,
    send,
    key: `${foldLocalPart(local.value)}@${domain.value}`,
    keyVersion: ADDRESS_KEY_VERSION,
    smtputf8: octets(local.value) > local.value.length,
  };
}

/**
 * @param key `key` of a parsed address.
 * @returns SHA-256 of its UTF-8 form, 64 lower-case hex digits: the form in which suppression lists are exchanged.
 */
export function addressHash(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/**
 * @param domain A domain as people write it, Unicode or A-labels.
 * @returns Lower-case A-labels by UTS #46 (non-transitional, STD3, all checks), or the rule that it breaks.
 */
export function parseDomain(domain: string): Part {
  if (domain === '') return refused('the domain is missing');
  if (ALL_DOTS_OF_IDNA.test(domain)) return refused('the domain ends with a dot');
  if (domain.startsWith('[')) return refused('an address literal stands where a domain name is expected');
  const ascii = tr46.toASCII(domain, {
    checkHyphens: true,
    checkBidi: true,
    checkJoiners: true,
    useSTD3ASCIIRules: true,
    verifyDNSLength: true,
    transitionalProcessing: false,
  });
  if (ascii === null) return refused('the domain is not a valid domain name');
  if (!ascii.includes('.')) return refused('the domain has only one label');
  if (/\.\d+$/.test(ascii)) return refused('the domain ends with a number');
  return { ok: true, value: ascii };
}

type Cut =
  { readonly ok: true; readonly local: string; readonly domain: string; readonly quoted: boolean } | RefusedAddress;

function splitAtSign(raw: string): Cut {
  if (raw === '') return refused('the address is empty');
  const quoted = /^"((?:[^"\\]|\\.)*)"@(.*)$/su.exec(raw);
  if (quoted?.[1] !== undefined && quoted[2] !== undefined) {
    return moreThanOne(quoted[2]) ?? { ok: true, local: quoted[1], domain: quoted[2], quoted: true };
  }
  const at = raw.indexOf('@');
  const more = moreThanOne(raw.slice(at + 1));
  if (/[<>]/.test(raw)) return refused('a display name or angle brackets stand where a bare address is expected');
  if (at < 0) return refused('the address has no @');
  if (more !== null) return more;
  return { ok: true, local: raw.slice(0, at), domain: raw.slice(at + 1), quoted: false };
}

function moreThanOne(afterFirstAt: string): RefusedAddress | null {
  if (/[,;]/.test(afterFirstAt)) return refused('more than one address is given');
  return afterFirstAt.includes('@') ? refused('the address has more than one @') : null;
}

function plainLocalPart(text: string): Part {
  const local = text.normalize('NFC');
  if (local === '') return refused('the local part is empty');
  if (OTHER_CHARACTERS.test(local)) return refused('the local part holds an invisible or private character');
  if (/[\p{Z}]/u.test(local)) return refused('the local part holds white space without quotes');
  if (/^\.|\.\.|\.$/.test(local)) return refused('the local part has a dot at an end or two dots in a row');
  return isDotAtom(local) ? { ok: true, value: local } : refused('the local part holds a character that needs quotes');
}

function quotedLocalPart(text: string): Part {
  const content = text.replaceAll(/\\(.)/gsu, '$1').normalize('NFC');
  if (content === '') return refused('the local part is empty');
  if (OTHER_CHARACTERS.test(content)) return refused('the local part holds an invisible or private character');
  // Legal, but SMTP clients (nodemailer among them) refuse these in a path, and nothing real uses them.
  if (/[<>]/.test(content)) return refused('the local part holds angle brackets');
  if (isDotAtom(content)) return { ok: true, value: content };
  return { ok: true, value: `"${content.replaceAll(/["\\]/g, String.raw`\$&`)}"` };
}

function isDotAtom(local: string): boolean {
  return DOT_ATOM.test(local) && !/\p{Z}/u.test(local);
}

function foldLocalPart(local: string): string {
  // Lower-casing first: it can leave a sequence that NFC composes. Final sigma is one letter in two shapes, and
  // which shape toLowerCase() gives depends on its neighbours.
  return local.toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

function octets(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function refused(rule: string): RefusedAddress {
  return { ok: false, rule };
}
