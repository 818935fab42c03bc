import { createHash, createHmac } from 'node:crypto';
import { SINK_CREDENTIALS } from '../support/sinks/api-sink.ts';

/** A request as the vendor's own pages show it, to try the sink with. No adapter has a part in it. */
export interface SampleRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const { apiKey, secret, accessKeyId, region, domain } = SINK_CREDENTIALS;
const JSON_TYPE = { 'content-type': 'application/json' };
const BEARER = { ...JSON_TYPE, authorization: `Bearer ${apiKey}` };
const FROM = 'news@einmal.example';

function basic(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

function sesSample(host: string, reference: string, to: string): SampleRequest {
  const mime = `From: ${FROM}\r\nTo: ${to}\r\nSubject: Hello\r\n\r\nHello\r\n`;
  const body = JSON.stringify({
    Destination: { ToAddresses: [to] },
    Content: { Raw: { Data: Buffer.from(mime).toString('base64') } },
    EmailTags: [{ Name: 'einmal-ref', Value: reference }],
  });
  const path = '/v2/email/outbound-emails';
  const moment = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = moment.slice(0, 8);
  const signed = 'host;x-amz-date';
  const canonical = `POST\n${path}\n\nhost:${host}\nx-amz-date:${moment}\n\n${signed}\n${digest(body)}`;
  const scope = `${day}/${region}/ses/aws4_request`;
  const key = [
    day,
    region,
    'ses',
    'aws4_request',
    `AWS4-HMAC-SHA256\n${moment}\n${scope}\n${digest(canonical)}`,
  ].reduce((previous, part) => createHmac('sha256', previous).update(part).digest(), Buffer.from(`AWS4${secret}`));
  const credential = `Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${key.toString('hex')}`;
  return {
    path,
    headers: { ...JSON_TYPE, 'x-amz-date': moment, authorization: `AWS4-HMAC-SHA256 ${credential}` },
    body,
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type Build = (reference: string, to: string, key: string | null) => SampleRequest;

const BUILDERS: Readonly<Record<string, Build>> = {
  sendgrid: (reference, to) => ({
    path: '/v3/mail/send',
    headers: BEARER,
    body: JSON.stringify({
      personalizations: [{ to: [{ email: to }], custom_args: { 'einmal-ref': reference } }],
      from: { email: FROM },
      subject: 'Hello',
      content: [{ type: 'text/plain', value: 'Hello' }],
    }),
  }),
  postmark: (reference, to) => ({
    path: '/email',
    headers: { ...JSON_TYPE, 'x-postmark-server-token': apiKey },
    body: JSON.stringify({
      From: FROM,
      To: to,
      Subject: 'Hello',
      TextBody: 'Hello',
      Metadata: { 'einmal-ref': reference },
    }),
  }),
  mailgun: (reference, to) => ({
    path: `/v3/${domain}/messages`,
    headers: { ...basic('api', apiKey), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      from: FROM,
      to,
      subject: 'Hello',
      text: 'Hello',
      'v:einmal-ref': reference,
    }).toString(),
  }),
  resend: (reference, to, key) => ({
    path: '/emails',
    headers: { ...BEARER, ...(key === null ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify({
      from: FROM,
      to: [to],
      subject: 'Hello',
      text: 'Hello',
      tags: [{ name: 'ref', value: reference }],
    }),
  }),
  brevo: (reference, to, key) => ({
    path: '/v3/smtp/email',
    headers: { ...JSON_TYPE, 'api-key': apiKey },
    body: JSON.stringify({
      sender: { email: FROM },
      to: [{ email: to }],
      subject: 'Hello',
      textContent: 'Hello',
      tags: [reference],
      headers: key === null ? {} : { idempotencyKey: key },
    }),
  }),
  mailjet: (reference, to, key) => ({
    path: '/v3.1/send',
    headers: { ...JSON_TYPE, ...basic(apiKey, secret) },
    body: JSON.stringify({
      Messages: [
        {
          From: { Email: FROM },
          To: [{ Email: to }],
          Subject: 'Hello',
          TextPart: 'Hello',
          CustomID: reference,
          ...(key === null ? {} : { CustomCampaign: `einmal-${key}`, DeduplicateCampaign: true }),
        },
      ],
    }),
  }),
  sparkpost: (reference, to) => ({
    path: '/api/v1/transmissions',
    headers: { ...JSON_TYPE, authorization: apiKey },
    body: JSON.stringify({
      recipients: [{ address: { email: to }, metadata: { 'einmal-ref': reference } }],
      content: { from: { email: FROM }, subject: 'Hello', text: 'Hello' },
    }),
  }),
  mailersend: (reference, to) => ({
    path: '/v1/email',
    headers: BEARER,
    body: JSON.stringify({
      from: { email: FROM },
      to: [{ email: to }],
      subject: 'Hello',
      text: 'Hello',
      tags: [reference],
    }),
  }),
  'generic-replay': (reference, to, key) => generic('replay', reference, to, key),
  'generic-reject': (reference, to, key) => generic('reject', reference, to, key === null ? null : `"${key}"`),
  'generic-plain': (reference, to) => generic('plain', reference, to, null),
};

function generic(profile: string, reference: string, to: string, key: string | null): SampleRequest {
  return {
    path: `/generic/${profile}/things`,
    headers: { ...BEARER, ...(key === null ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify({ reference, to, subject: 'Hello' }),
  };
}

export const SAMPLE_DIALECTS: readonly string[] = ['ses', ...Object.keys(BUILDERS)];

/** @param host host and port that the request is signed for */
export function sampleRequest(
  dialect: string,
  host: string,
  reference: string,
  to: string,
  key: string | null = null,
): SampleRequest {
  if (dialect === 'ses') return sesSample(host, reference, to);
  const build = BUILDERS[dialect];
  if (build === undefined) throw new Error(`no sample for ${dialect}`);
  return build(reference, to, key);
}

/** How the vendor is asked about a reference; null where it cannot be. */
export function sampleLookup(dialect: string, reference: string, to: string): string | null {
  const address = encodeURIComponent(to);
  switch (dialect) {
    case 'sendgrid':
      return `/v3/messages?limit=10&query=${encodeURIComponent(`unique_args['einmal-ref']="${reference}"`)}`;
    case 'postmark':
      return `/messages/outbound?count=1&offset=0&metadata_einmal-ref=${reference}`;
    case 'mailgun':
      return `/v3/${domain}/events?recipient=${address}`;
    case 'resend':
      return '/emails?limit=100';
    case 'brevo':
      return `/v3/smtp/statistics/events?tags=${encodeURIComponent(JSON.stringify([reference]))}`;
    case 'mailjet':
      return `/v3/REST/message?CustomID=${reference}`;
    case 'sparkpost':
      return `/api/v1/events/message?recipients=${address}`;
    case 'mailersend':
      return `/v1/emails?tag=${reference}`;
    case 'ses':
      return null;
    default:
      return `/generic/${dialect.slice('generic-'.length)}/things?ref=${reference}`;
  }
}
