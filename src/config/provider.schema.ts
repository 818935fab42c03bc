import { z } from 'zod';
import { hostName, line, positiveNumber, strictMap, wholeNumber } from './schema-parts.ts';

const rate = strictMap({
  /** Sustained calls per second over all replicas. */
  perSecond: positiveNumber(100_000),
  /** Calls that may go at once after a rest; one second's worth when not given. */
  burst: wholeNumber(1, 1_000_000).optional(),
}).transform(({ perSecond, burst }) => ({ perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) }));

/** A mail relay by SMTP. Another kind becomes another member of a union on `kind`. */
export const providerSchema = strictMap({
  kind: z.literal('smtp'),
  host: hostName(),
  port: wholeNumber(1, 65_535),
  security: z.enum(['starttls', 'tls', 'none']).default('starttls'),
  auth: strictMap({ user: line(320), password: line(4096) })
    .nullable()
    .default(null),
  connections: wholeNumber(1, 200).default(20),
  rate: rate.nullable().default(null),
  timeoutSeconds: wholeNumber(1, 600).default(60),
  name: hostName().nullable().default(null),
});
