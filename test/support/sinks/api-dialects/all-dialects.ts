import { brevo } from './brevo.ts';
import type { ApiDialect } from './dialect.ts';
import { genericPlain, genericReject, genericReplay } from './generic.ts';
import { mailersend } from './mailersend.ts';
import { mailgun } from './mailgun.ts';
import { mailjet } from './mailjet.ts';
import { postmark } from './postmark.ts';
import { resend } from './resend.ts';
import { sendgrid } from './sendgrid.ts';
import { ses } from './ses.ts';
import { sparkpost } from './sparkpost.ts';

/** No path belongs to two of them. */
export const ALL_DIALECTS: readonly ApiDialect[] = [
  ses,
  sendgrid,
  postmark,
  mailgun,
  resend,
  brevo,
  mailjet,
  sparkpost,
  mailersend,
  genericReplay,
  genericReject,
  genericPlain,
];
