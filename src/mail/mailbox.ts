import addressparser from 'nodemailer/lib/addressparser';
import { parseAddress, type ParsedAddress, type RefusedAddress } from './address.ts';

export interface ParsedMailbox {
  readonly ok: true;
  /** Display name, absent when none is given. */
  readonly name?: string;
  readonly address: ParsedAddress;
}

const MAX_NAME_LENGTH = 200;

/**
 * A sender as people write it: `Name <address>`, `"Name, Inc." <address>` or a bare address.
 *
 * @param input Exactly one mailbox; lists and groups are refused.
 * @returns Display name and address, or the rule that it breaks (never with the address in it).
 */
export function parseMailbox(input: string): ParsedMailbox | RefusedAddress {
  const bare = parseAddress(input);
  if (bare.ok) return { ok: true, address: bare };
  const text = input.trim();
  const start = text.lastIndexOf('<');
  if (start < 0 || !text.endsWith('>')) return bare;
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text)) return refused('the sender holds a control character');
  const address = parseAddress(text.slice(start + 1, -1));
  if (!address.ok) return address;
  const name = nameBefore(text, address.raw);
  if (name === null) return refused('the sender is not one mailbox of the form: name <address>');
  if (name.length > MAX_NAME_LENGTH) return refused('the name of the sender is longer than 200 characters');
  return name === '' ? { ok: true, address } : { ok: true, name, address };
}

/** The parser's word counts only where it agrees with what stands in the brackets. */
function nameBefore(text: string, address: string): string | null {
  const found = addressparser(text);
  const only = found[0];
  if (found.length !== 1 || only === undefined || only.group !== undefined) return null;
  if (only.address !== address || /[<>]/.test(only.name)) return null;
  return only.name.trim();
}

function refused(rule: string): RefusedAddress {
  return { ok: false, rule };
}
