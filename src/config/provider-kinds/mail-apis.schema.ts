import { z } from 'zod';
import { line, strictMap } from '../schema-parts.ts';
import { baseUrl } from './base-url.ts';
import { batchSize, lookupKey, mailApiKeys, MISSES, secret, seconds } from './common-keys.ts';

const HALF_AN_HOUR = 1800;
const AN_HOUR = 3600;

/** The defaults of waits and ages are starting values, to be corrected by what an account shows. */
export const sesSchema = strictMap({
  kind: z.literal('ses'),
  region: z.string().regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be the name of an AWS region'),
  accessKeyId: secret(),
  secretAccessKey: secret(),
  configurationSet: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a configuration set')
    .nullable()
    .default(null),
  // The region's own when not given.
  baseUrl: baseUrl().nullable().default(null),
  ...mailApiKeys(HALF_AN_HOUR),
});

export const sendgridSchema = strictMap({
  kind: z.literal('sendgrid'),
  apiKey: secret(),
  baseUrl: baseUrl().default('https://api.sendgrid.com'),
  ...mailApiKeys(AN_HOUR),
  // The activity feed is an add-on that is paid for.
  lookup: strictMap({ minAgeSeconds: seconds().default(900), miss: z.enum(MISSES).default('hold') })
    .nullable()
    .default(null),
});

export const postmarkSchema = strictMap({
  kind: z.literal('postmark'),
  serverToken: secret(),
  messageStream: line(100).default('outbound'),
  marketingStream: line(100).nullable().default(null),
  batchSize: batchSize(500),
  baseUrl: baseUrl().default('https://api.postmarkapp.com'),
  ...mailApiKeys(AN_HOUR),
  lookup: lookupKey(600, 'resend'),
});

export const mailgunSchema = strictMap({
  kind: z.literal('mailgun'),
  apiKey: secret(),
  domain: z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a domain'),
  baseUrl: baseUrl().default('https://api.mailgun.net'),
  ...mailApiKeys(AN_HOUR),
  lookup: lookupKey(2100, 'hold'),
});

export const resendSchema = strictMap({
  kind: z.literal('resend'),
  apiKey: secret(),
  batchSize: batchSize(100),
  baseUrl: baseUrl().default('https://api.resend.com'),
  ...mailApiKeys(HALF_AN_HOUR),
});

export const brevoSchema = strictMap({
  kind: z.literal('brevo'),
  apiKey: secret(),
  baseUrl: baseUrl().default('https://api.brevo.com'),
  ...mailApiKeys(AN_HOUR),
  lookup: lookupKey(600, 'resend'),
});

export const mailjetSchema = strictMap({
  kind: z.literal('mailjet'),
  apiKey: secret(),
  secretKey: secret(),
  deduplicate: strictMap({ windowSeconds: seconds(60), marginSeconds: seconds(0).default(60) })
    .nullable()
    .default(null),
  baseUrl: baseUrl().default('https://api.mailjet.com'),
  ...mailApiKeys(AN_HOUR),
  lookup: lookupKey(600, 'hold'),
});

export const sparkpostSchema = strictMap({
  kind: z.literal('sparkpost'),
  apiKey: secret(),
  baseUrl: baseUrl().default('https://api.sparkpost.com'),
  ...mailApiKeys(HALF_AN_HOUR),
  lookup: lookupKey(600, 'hold'),
});

export const mailersendSchema = strictMap({
  kind: z.literal('mailersend'),
  apiKey: secret(),
  domainId: line(100).nullable().default(null),
  baseUrl: baseUrl().default('https://api.mailersend.com'),
  ...mailApiKeys(300),
  lookup: lookupKey(900, 'resend'),
});
