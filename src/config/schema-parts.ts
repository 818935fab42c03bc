import { z } from 'zod';
import { nearestName } from './nearest-name.ts';

/** A map that knows all its keys and says the nearest of them for one that it does not know. */
export function strictMap<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownKeyHints(issue.keys, known) : undefined),
  });
}

/** One line per unknown key, read by errorsOfIssues(). */
function unknownKeyHints(keys: readonly string[], known: readonly string[]): string {
  return keys.map((key) => nearestName(key, known) ?? '').join('\n');
}

/** A number of digits that came through `${NAME}` is text until here. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
    z.int().min(min).max(max),
  );
}

export function positiveNumber(max: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value),
    z.number().positive().max(max),
  );
}

export function flag() {
  return z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());
}

// CR, LF and NUL end lines in protocols and logs; a secret read from a file often ends with a line break.
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** A text without control characters, 1 to `max` characters. */
export function line(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !CONTROL.test(text), 'must not contain line breaks or other control characters');
}

/** A host name, an IPv4 address or an IPv6 address; the resolver judges the rest. */
export function hostName() {
  return z
    .string()
    .max(253)
    .regex(
      /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?|[0-9a-f:.]*:[0-9a-f:.]*)$/iu,
      'must be a host name or an IP address',
    );
}

/** Names that appear in keys, metrics and events. */
export const NAME_FORM = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const NAME_RULE = 'must be 1 to 63 of a-z, 0-9 and -, and not start with -';
