import { z } from 'zod';
import { strictMap, wholeNumber } from '../schema-parts.ts';
import { commonKeys, seconds } from './common-keys.ts';

/** A peer on Kafka that delivers what is published for it. */
export const kafkaSchema = strictMap({
  kind: z.literal('kafka'),
  windowDays: wholeNumber(1, 3650).default(7),
  ...commonKeys,
  receiptWaitSeconds: seconds().nullable().default(3600),
});
