import { z } from 'zod';
import { parseRfc3339 } from '../messaging/rfc3339.ts';
import { line, NAME_FORM, NAME_RULE, positiveNumber, strictMap, wholeNumber } from './schema-parts.ts';

export const SCOPES = ['read', 'request', 'operate'] as const;
/** read: look at what is there; request: ask for operations; operate: decide, resolve, replay. */
export type Scope = (typeof SCOPES)[number];

export const UNKNOWN_POLICIES = ['hold', 'resend', 'assume-sent'] as const;
export type UnknownPolicy = (typeof UNKNOWN_POLICIES)[number];

export const AFTER_KEY_RETENTION = ['tombstone', 'nothing'] as const;

const token = strictMap({
  name: line(100),
  /** Of the token's text in UTF-8. The token itself is never stored. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be 64 hex digits')
    .toLowerCase(),
  scopes: z.array(z.enum(SCOPES)).min(1),
  /** Requests over all replicas: how many a second, and how many at once after a rest. */
  rate: strictMap({ perSecond: positiveNumber(100_000), burst: wholeNumber(1, 1_000_000) }).default({
    perSecond: 100,
    burst: 200,
  }),
  /** By the database's clock; null: never. */
  expiresAt: z
    .string()
    .refine((text) => parseRfc3339(text) !== null, 'must be an RFC 3339 time with offset, 1970 to 9999')
    .nullable()
    .default(null),
});

/** One @ at most, no blanks or brackets: an address or a domain; src/mail judges the address itself at each request. */
const sender = z
  .string()
  .max(320)
  .regex(/^(?:[^\s@<>"(),:;]+@)?[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u, 'must be an address or a domain');

const providerName = z.string().regex(NAME_FORM, NAME_RULE);

export const tenantSchema = strictMap({
  tokens: z.array(token).max(1000).default([]),
  senders: z.array(sender).min(1).max(1000),
  provider: providerName,
  providers: z.array(providerName).max(100).default([]),
  keyRetentionDays: wholeNumber(1, 36_500).default(400),
  payloadRetentionDays: wholeNumber(1, 36_500).default(30),
  afterKeyRetention: z.enum(AFTER_KEY_RETENTION).default('tombstone'),
  onUnknown: z.enum(UNKNOWN_POLICIES).default('hold'),
});
