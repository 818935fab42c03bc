import { z } from 'zod';
import { hostName, line, strictMap, wholeNumber } from '../schema-parts.ts';
import { commonKeys, seconds } from './common-keys.ts';

/** A mail relay by SMTP. */
export const smtpSchema = strictMap({
  kind: z.literal('smtp'),
  host: hostName(),
  port: wholeNumber(1, 65_535),
  security: z.enum(['starttls', 'tls', 'none']).default('starttls'),
  auth: strictMap({ user: line(320), password: line(4096) })
    .nullable()
    .default(null),
  ...commonKeys,
  // A bounce.
  receiptWaitSeconds: seconds().default(86_400),
  name: hostName().nullable().default(null),
});
