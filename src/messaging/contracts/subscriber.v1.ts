import { z } from 'zod';

import { defineContract } from './contract.ts';
import { attributes, email, id, idList } from './fields.ts';
import { subscriberStatuses } from './vocabulary.ts';

export const subscriberUpserted = defineContract({
  type: 'einmal.subscriber.upserted.v1',
  topic: 'subscribers',
  description:
    'The whole state of a subscriber. It replaces the earlier one; of two, the one with the newest `ce_time` wins.',
  schema: z.strictObject({
    subscriberId: id.describe("The peer's id of the person."),
    email: email.describe('Where to mail to, as the person wrote it.'),
    status: z.enum(subscriberStatuses).describe('Only confirmed subscribers are mailed by campaigns.'),
    lists: idList.describe('The lists the person is on, all of them.'),
    attributes: attributes.describe('Whatever templates and audiences use; at most 32 KiB, nested at most 16 deep.'),
    locale: z
      .string()
      .regex(/^[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4}$/, 'must be a language tag such as de-CH')
      .describe('BCP 47 language tag.')
      .optional(),
    timeZone: z
      .string()
      .regex(/^[A-Za-z0-9_+/-]{1,64}$/, 'must be the name of a time zone such as Europe/Berlin')
      .describe('IANA time zone.')
      .optional(),
  }),
  example: {
    subscriberId: 'sub_7',
    email: 'ada@example.org',
    status: 'confirmed',
    lists: ['newsletter', 'product-news'],
    attributes: { name: 'Ada', plan: 'pro', seats: 3 },
    locale: 'de-CH',
    timeZone: 'Europe/Zurich',
  },
  entityKey: (data) => data.subscriberId,
});

export const subscriberDeleted = defineContract({
  type: 'einmal.subscriber.deleted.v1',
  topic: 'subscribers',
  description: 'The subscriber is gone. With `erase`, personal data kept in finished operations is erased too.',
  schema: z.strictObject({
    subscriberId: id.describe("The peer's id of the person."),
    erase: z.boolean().describe('Erase personal data, as a person may ask for by law.').optional(),
  }),
  example: { subscriberId: 'sub_7', erase: true },
  entityKey: (data) => data.subscriberId,
});
