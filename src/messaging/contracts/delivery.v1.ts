import { z } from 'zod';

import { defineContract } from './contract.ts';
import {
  email,
  freeTextOfBytes,
  hash,
  headerText,
  id,
  mailbox,
  messageClass,
  operationKey,
  time,
  uuid,
} from './fields.ts';

const MAX_CONTENT_BYTES = 512 * 1024;

export const deliveryRequested = defineContract({
  type: 'einmal.delivery.requested.v1',
  topic: 'deliveries',
  description:
    'For a provider that is itself a peer on Kafka: deliver this once, and report with `einmal.receipt.reported.v1` under the same reference.',
  schema: z.strictObject({
    operationId: uuid.describe('The reference, and the idempotency key: the same id is the same delivery.'),
    operationKey: operationKey.describe('As in the request.'),
    payloadHash: hash.describe('Of the operation.'),
    provider: id.describe('The name of the provider in the configuration.'),
    attempt: z.int().min(1).max(1_000_000),
    class: messageClass,
    campaignId: id.describe('When the operation belongs to a campaign.').optional(),
    deadline: time.describe('Not to be delivered later.').optional(),
    to: email.describe('The one recipient.'),
    from: mailbox.describe('The sender.'),
    replyTo: mailbox.describe('Where answers go.').optional(),
    subject: headerText(998),
    html: freeTextOfBytes(MAX_CONTENT_BYTES).describe('The HTML part, rendered.').optional(),
    text: freeTextOfBytes(MAX_CONTENT_BYTES).describe('The text part, rendered.').optional(),
    headers: z.record(headerText(76), headerText(998)).describe('Further headers of the mail.').optional(),
  }),
  example: {
    operationId: '3f0f2d5e-3c0b-5a51-9d0e-2f6a0c9e8b7a',
    operationKey: 'order-17:confirmation',
    payloadHash: 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
    provider: 'peer-mailer',
    attempt: 1,
    class: 'transactional',
    to: 'ada@example.org',
    from: 'Example Shop <orders@example.org>',
    subject: 'Your order 17',
    html: '<p>Thank you, Ada.</p>',
    text: 'Thank you, Ada.',
  },
  entityKey: (data) => data.operationId,
});
