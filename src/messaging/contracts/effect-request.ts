import { z } from 'zod';

import { base64, email, freeTextOfBytes, headerText, id, jsonObject, mailbox, messageClass } from './fields.ts';
import { httpMethods } from './vocabulary.ts';

const MAX_CONTENT_BYTES = 512 * 1024;
const MAX_HEADERS = 30;
const MAX_ATTACHMENTS = 20;

/** Set by the service itself: a second recipient or another identity must not come in through a free header. */
const ownMailHeaders =
  /^(?:from|to|cc|bcc|sender|reply-to|subject|date|message-id|return-path|received|mime-version|content-.*|dkim-signature|resent-.*)$/i;

/** Set by the HTTP client or the configured endpoint. */
const ownHttpHeaders =
  /^(?:host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer|keep-alive|authorization|cookie|proxy-.*|idempotency-key)$/i;

const headers = (reserved: RegExp) =>
  z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,75}$/, 'must be the name of a header'), headerText(998))
    .refine((all) => Object.keys(all).length <= MAX_HEADERS, `must have at most ${MAX_HEADERS} headers`)
    .refine(
      (all) => !Object.keys(all).some((name) => reserved.test(name)),
      'must not set a header that the service sets',
    )
    .meta({ maxProperties: MAX_HEADERS });

const attachment = z.strictObject({
  filename: headerText(255),
  contentType: z
    .string()
    .max(255, { abort: true })
    .regex(/^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/, 'must be a media type'),
  content: base64.describe('The bytes in base64.'),
  contentId: id.describe('For `cid:` references in the HTML.').optional(),
});

/** What an operation of kind `email` asks for: one mail to one recipient. */
export const emailRequest = z
  .strictObject({
    to: email.describe('The one recipient.'),
    from: mailbox.describe("The sender; the tenant's default when absent.").optional(),
    replyTo: mailbox.describe('Where answers go.').optional(),
    subject: headerText(998),
    html: freeTextOfBytes(MAX_CONTENT_BYTES).describe('The HTML part; at most 512 KiB.').optional(),
    text: freeTextOfBytes(MAX_CONTENT_BYTES).describe('The text part; made from the HTML when absent.').optional(),
    template: id.describe("The name of a template of the tenant's; filled with `data`.").optional(),
    data: jsonObject({ maxBytes: 64 * 1024, maxDepth: 16, maxMembers: 200 })
      .describe('Values for the template; at most 64 KiB, nested at most 16 deep.')
      .optional(),
    headers: headers(ownMailHeaders).describe('Further headers, except those that the service sets.').optional(),
    attachments: z.array(attachment).max(MAX_ATTACHMENTS).optional(),
    class: messageClass.describe('May be given here instead of beside the request.').optional(),
  })
  .refine((request) => Boolean(request.html) || Boolean(request.text) || request.template !== undefined, {
    error: 'must have html, text or template',
  });

/** What an operation of kind `http` asks for: one call of a configured endpoint. */
export const httpRequest = z.strictObject({
  endpoint: id.describe("The name of an endpoint in the tenant's configuration."),
  method: z.enum(httpMethods),
  path: headerText(2048)
    .regex(/^\/(?!\/)/, 'must begin with one slash')
    .refine((path) => !/(?:^|\/)\.\.?(?:\/|$|\?)/.test(path) && !path.includes('\\'), 'must not climb with . or ..')
    .describe("Appended to the endpoint's base URL."),
  headers: headers(ownHttpHeaders).describe('Further headers, except those that the service sets.').optional(),
  body: z.unknown().describe('Any JSON; sent as JSON.').optional(),
});
