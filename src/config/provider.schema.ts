import type { z } from 'zod';
import { httpSchema } from './provider-kinds/http.schema.ts';
import { kafkaSchema } from './provider-kinds/kafka.schema.ts';
import {
  brevoSchema,
  mailersendSchema,
  mailgunSchema,
  mailjetSchema,
  postmarkSchema,
  resendSchema,
  sendgridSchema,
  sesSchema,
  sparkpostSchema,
} from './provider-kinds/mail-apis.schema.ts';
import { smtpSchema } from './provider-kinds/smtp.schema.ts';

/** Each kind of provider has its own keys. */
export const providerSchemas = {
  smtp: smtpSchema,
  ses: sesSchema,
  sendgrid: sendgridSchema,
  postmark: postmarkSchema,
  mailgun: mailgunSchema,
  resend: resendSchema,
  brevo: brevoSchema,
  mailjet: mailjetSchema,
  sparkpost: sparkpostSchema,
  mailersend: mailersendSchema,
  http: httpSchema,
  kafka: kafkaSchema,
} as const;

export type ProviderKind = keyof typeof providerSchemas;
export const PROVIDER_KINDS = Object.keys(providerSchemas) as ProviderKind[];

export type ProviderSettings = { [K in ProviderKind]: z.output<(typeof providerSchemas)[K]> }[ProviderKind];

export function isProviderKind(kind: unknown): kind is ProviderKind {
  return typeof kind === 'string' && Object.hasOwn(providerSchemas, kind);
}
