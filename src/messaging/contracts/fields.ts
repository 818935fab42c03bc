import { z } from 'zod';

import { decodeBase64 } from '../base64.ts';
import { parseRfc3339 } from '../rfc3339.ts';
import { jsonObjectFlaw } from './json-limits.ts';
import type { JsonLimits, JsonObject } from './json-limits.ts';
import { messageClasses, unknownPolicies } from './vocabulary.ts';

/** The fields that several contracts share. Lengths are in UTF-16 code units, never more than PostgreSQL's characters. */

/** Text over the limit is not searched any further: the cost of a pattern stays bounded by the limit. */
const STOP = { abort: true } as const;

/** Text that becomes a header, an identity or a name: what could break a line or not be stored is refused. */
export const headerText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength, STOP)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not hold control characters or lone surrogates');

/** Text of any characters that PostgreSQL can keep as it is. */
export const storedText = (maxLength: number, minLength = 1) =>
  z
    .string()
    .min(minLength)
    .max(maxLength, STOP)
    // oxlint-disable-next-line no-control-regex -- U+0000 is the character to refuse
    .regex(/^[^\u0000\p{Cs}]*$/u, 'must not hold U+0000 or lone surrogates');

/** Free content: any characters; what PostgreSQL cannot store is escaped and flagged when it is stored. */
export const freeText = (maxLength: number) => z.string().max(maxLength);

/** Free content measured as it is sent. */
export const freeTextOfBytes = (maxBytes: number) =>
  z
    .string()
    .refine((text) => fitsUtf8(text, maxBytes), `must not take more than ${maxBytes} bytes in UTF-8`)
    .meta({ maxLength: maxBytes });

export const id = headerText(256);
/** A name that templates can use as it is. */
export const stepName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be a letter and then up to 62 of a-z, 0-9, _');
export const operationKey = storedText(512);
export const effectId = headerText(512);
export const revision = z.int().min(1).max(2_147_483_647);
export const reason = freeText(1000);
export const diagnostic = freeText(1000);
export const by = headerText(256);
export const messageClass = z.enum(messageClasses);
export const onUnknown = z.enum(unknownPolicies);

export const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lower-case hex digits');
export const addressHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a UUID in lower case');

/**
 * An address as its owner writes it: at most 320 characters (64 + @ + 255, RFC 5321), no line break, something on both sides
 * of an @. Whether it can be mailed is judged where mail is made, so that one odd address is a fact and not a lost message.
 */
export const email = headerText(320).regex(/^[^@]+@[\s\S]*[^@]$/u, 'must be an address: a local part, @ and a domain');

/** A mailbox with or without a display name: `Shop <news@example.org>`. */
export const mailbox = headerText(640).regex(/@/, 'must hold an address');

export const time = z
  .string()
  .refine((text) => parseRfc3339(text) !== null, 'must be an RFC 3339 time with offset, 1970 to 9999')
  .meta({ format: 'date-time', maxLength: 35 });

export const base64 = z
  .string()
  .refine((text) => decodeBase64(text) !== null, 'must be base64 with padding')
  .meta({ contentEncoding: 'base64' });

export const scope = z
  .string()
  .regex(/^(?:all|marketing|list:[^\p{Cc}\p{Cs}]{1,256})$/u, 'must be all, marketing or list: and the id of a list');

/** At most this many entries in any list of a message. */
export const MAX_LIST = 200;
export const idList = z.array(id).max(MAX_LIST);

/** An object of the peer's own, kept as it is; limits are checked, names and values are free content. */
export const jsonObject = (limits: JsonLimits) =>
  z
    .custom<JsonObject>()
    .check((payload) => {
      const flaw = jsonObjectFlaw(payload.value, limits);
      if (flaw !== null) {
        payload.issues.push({ code: 'custom', input: payload.value, message: flaw });
      }
    })
    .meta({ type: 'object', maxProperties: limits.maxMembers });

export const attributes = jsonObject({ maxBytes: 32 * 1024, maxDepth: 16, maxMembers: 200 });

function fitsUtf8(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes);
}
