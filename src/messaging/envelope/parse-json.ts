import { isUtf8 } from 'node:buffer';

import { refusal } from '../dead-letter-reason.ts';
import type { Refusal } from '../dead-letter-reason.ts';
import { scanJson } from './scan-json.ts';

export type ParsedJson = { readonly ok: true; readonly value: unknown } | Refusal;

/**
 * Strict JSON: valid UTF-8 without a byte order mark, nested at most `maxDepth` deep, every number as it was written, no
 * member name twice in one object. Anything JSON.parse returns for such text can be hashed and stored without loss.
 */
export function parseJson(bytes: Buffer, maxDepth: number): ParsedJson {
  const flaw = encodingFlaw(bytes);
  if (flaw !== null) {
    return refusal('unparseable', flaw);
  }
  const text = bytes.toString('utf8');
  const scan = scanJson(text, maxDepth);
  if (!scan.ok) {
    return refusal(scan.reason, scan.detail);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refusal('unparseable', `the data is not JSON${placeOf(error)}`);
  }
  return countMembers(value) === scan.members
    ? { ok: true, value }
    : refusal('unparseable', 'a member name appears twice in one object');
}

function encodingFlaw(bytes: Buffer): string | null {
  if (bytes.length === 0) {
    return 'the value is empty';
  }
  if (bytes[0] === 0) {
    return 'the value begins with a zero byte, as the framing of a schema registry does; plain JSON is expected';
  }
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return 'the value begins with a byte order mark';
  }
  return isUtf8(bytes) ? null : 'the value is not UTF-8';
}

/** The recursion is bounded by the depth that the scan let through. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) {
    return 0;
  }
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : members.length;
  for (const member of members) {
    if (typeof member === 'object') {
      count += countMembers(member);
    }
  }
  return count;
}

/** Only the position: the engine's own text quotes the data. */
function placeOf(error: unknown): string {
  const position = error instanceof SyntaxError ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (character ${position})`;
}
