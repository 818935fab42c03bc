import { z } from 'zod';
import { flag, line, positiveNumber, strictMap, wholeNumber } from '../schema-parts.ts';

const rate = strictMap({
  /** Sustained calls per second over all replicas. */
  perSecond: positiveNumber(100_000),
  /** Calls that may go at once after a rest; one second's worth when not given. */
  burst: wholeNumber(1, 1_000_000).optional(),
}).transform(({ perSecond, burst }) => ({ perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) }));

/** Of every kind. */
export const commonKeys = {
  connections: wholeNumber(1, 200).default(20),
  rate: rate.nullable().default(null),
  timeoutSeconds: wholeNumber(1, 600).default(60),
} as const;

export const MISSES = ['hold', 'resend'] as const;

/** Days are the longest that a provider keeps what is asked for. */
const MAX_SECONDS = 30 * 86_400;

export const seconds = (min = 1) => wholeNumber(min, MAX_SECONDS);

/** Of every mail API beside its URL and its credential: among them how long the first receipt takes. */
export function mailApiKeys(receiptWaitSeconds: number) {
  return {
    allowPrivate: flag().default(false),
    ...commonKeys,
    receiptWaitSeconds: seconds().nullable().default(receiptWaitSeconds),
  };
}

/** Mails in one call; 1: each has its own. @param max as the vendor allows */
export function batchSize(max: number) {
  return wholeNumber(1, max).default(1);
}

/** When a look-up may be believed; null: none is made. */
export function lookupKey(minAgeSeconds: number, miss: (typeof MISSES)[number]) {
  return strictMap({
    minAgeSeconds: seconds().default(minAgeSeconds),
    miss: z.enum(MISSES).default(miss),
  })
    .nullable()
    .default({ minAgeSeconds, miss });
}

/** A credential as it is pasted. */
export const secret = () => line(4096);
