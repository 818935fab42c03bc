import { z } from 'zod';

import { defineContract } from './contract.ts';
import {
  by,
  freeTextOfBytes,
  headerText,
  id,
  idList,
  mailbox,
  MAX_LIST,
  messageClass,
  onUnknown,
  reason,
  revision,
  storedText,
  time,
} from './fields.ts';

const MAX_CONTENT_BYTES = 512 * 1024;
const MAX_CONDITIONS = 50;

const campaignId = id.describe("The peer's id of the campaign.");
const scalar = z.union([storedText(1000, 0), z.number(), z.boolean(), z.null()]);

const where = z
  .record(storedText(128), scalar.or(z.array(scalar).min(1).max(MAX_LIST)))
  .refine(
    (conditions) => Object.keys(conditions).length <= MAX_CONDITIONS,
    `must have at most ${MAX_CONDITIONS} conditions`,
  )
  .describe(
    'Conditions on attributes, all of which must hold: the name of an attribute and the value it must equal, or a list of ' +
      'values of which it must equal one. Type and case count; null is met by a null or missing attribute.',
  )
  .meta({ maxProperties: MAX_CONDITIONS });

const audience = z.strictObject({
  lists: idList.min(1).describe('Confirmed subscribers of any of these lists, each address once.'),
  where: where.optional(),
});

export const campaignRevisionSubmitted = defineContract({
  type: 'einmal.campaign.revision-submitted.v1',
  topic: 'campaigns',
  description:
    'A new, immutable revision of a campaign. It is sent only when an approval names it and its content hash.',
  schema: z.strictObject({
    campaignId,
    revision: revision.describe('Higher than every earlier one.'),
    class: messageClass.describe('Marketing mail is stopped by more scopes of suppression.'),
    from: mailbox.describe('The sender, with or without a display name.'),
    replyTo: mailbox.describe('Where answers go.').optional(),
    subject: headerText(998).describe('May hold template expressions.'),
    html: freeTextOfBytes(MAX_CONTENT_BYTES).min(1).describe('Template of the HTML part; at most 512 KiB.'),
    text: freeTextOfBytes(MAX_CONTENT_BYTES)
      .describe('Template of the text part; made from the HTML when absent.')
      .optional(),
    audience: audience.describe('Who gets it.'),
    scheduledFor: time.describe('Not before this time; at once when absent.').optional(),
    provider: id.describe("The name of a provider in the tenant's configuration.").optional(),
    onUnknown: onUnknown
      .describe('What happens to a mail whose outcome nothing can tell; `hold` when absent.')
      .optional(),
    rate: z.number().positive().max(100_000).describe('Mails a second at most.').optional(),
  }),
  example: {
    campaignId: 'cmp_42',
    revision: 3,
    class: 'marketing',
    from: 'Example Shop <news@example.org>',
    subject: 'Hello {{ subscriber.attributes.name }}',
    html: '<p>Hello {{ subscriber.attributes.name }}, the new catalogue is here.</p>',
    audience: { lists: ['newsletter'], where: { plan: ['pro', 'team'] } },
    scheduledFor: '2026-12-01T08:00:00+01:00',
  },
  entityKey: (data) => data.campaignId,
});

const controlRequest = z.strictObject({
  campaignId,
  by: by.describe('Who decided.'),
  reason: reason.describe('Why, in words.').optional(),
});
const controlExample = { campaignId: 'cmp_42', by: 'editor:grace', reason: 'wrong price on page 2' };

export const campaignPauseRequested = defineContract({
  type: 'einmal.campaign.pause-requested.v1',
  topic: 'campaigns',
  description: 'Start no further mail of the campaign.',
  schema: controlRequest,
  example: controlExample,
  entityKey: (data) => data.campaignId,
});

export const campaignResumeRequested = defineContract({
  type: 'einmal.campaign.resume-requested.v1',
  topic: 'campaigns',
  description: 'Go on with a paused campaign.',
  schema: controlRequest,
  example: { campaignId: 'cmp_42', by: 'editor:grace' },
  entityKey: (data) => data.campaignId,
});

export const campaignCancelRequested = defineContract({
  type: 'einmal.campaign.cancel-requested.v1',
  topic: 'campaigns',
  description: 'End the campaign; mails already called are not called back.',
  schema: controlRequest,
  example: controlExample,
  entityKey: (data) => data.campaignId,
});
