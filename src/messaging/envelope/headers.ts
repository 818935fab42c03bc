import { isUtf8 } from 'node:buffer';

import { refusal } from '../dead-letter-reason.ts';
import type { Refusal } from '../dead-letter-reason.ts';

/** Headers as a record carries them; a repeated name keeps every value. */
export type RecordHeaders = ReadonlyArray<readonly [name: string, value: Buffer]>;

/** The headers that the envelope reads, each once, still as bytes. */
export type EnvelopeHeaders =
  | { readonly ok: true; readonly attributes: ReadonlyMap<string, Buffer>; readonly plain: ReadonlyMap<string, Buffer> }
  | Refusal;

/** CloudEvents 1.0, section 3.1: names of attributes are lower-case letters and digits. */
const ATTRIBUTE_HEADER = /^ce_([a-z0-9]{1,64})$/;

/** Read in any case: HTTP-minded clients write `Content-Type`. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(['content-type', 'traceparent', 'tracestate']);

/**
 * Sorts out the `ce_` headers and the three plain ones that matter. The same header twice with the same bytes counts once;
 * with other bytes the record is refused, because readers would differ on which one is meant. Other headers are ignored.
 */
export function collectHeaders(headers: RecordHeaders): EnvelopeHeaders {
  const attributes = new Map<string, Buffer>();
  const plain = new Map<string, Buffer>();
  for (const [name, value] of headers) {
    const attribute = ATTRIBUTE_HEADER.exec(name)?.[1];
    const plainName = attribute === undefined ? name.toLowerCase() : '';
    if (attribute !== undefined && !addOnce(attributes, attribute, value)) {
      return refusal('duplicate-header', `the header ce_${attribute} appears twice with different values`);
    }
    if (PLAIN_HEADERS.has(plainName) && !addOnce(plain, plainName, value)) {
      return refusal('duplicate-header', `the header ${plainName} appears twice with different values`);
    }
  }
  return { ok: true, attributes, plain };
}

/** The text of a header, or undefined when it is absent or not UTF-8. */
export function headerText(headers: ReadonlyMap<string, Buffer>, name: string): string | undefined {
  const value = headers.get(name);
  return value !== undefined && isUtf8(value) ? value.toString('utf8') : undefined;
}

function addOnce(headers: Map<string, Buffer>, name: string, value: Buffer): boolean {
  const earlier = headers.get(name);
  if (earlier === undefined) {
    headers.set(name, value);
    return true;
  }
  return earlier.equals(value);
}
