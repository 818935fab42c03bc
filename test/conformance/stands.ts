import { SINK_CREDENTIALS, type Sinks } from '../support/sinks/api-sink.ts';
import { apiStand, CONNECTIONS, type ApiStandOptions } from './api-stand.ts';
import { callOf, mailOf } from './outgoing.ts';
import { peerStand } from './peer-stand.ts';
import type { RawConfig } from './provider-config.ts';
import { smtpStand } from './smtp-stand.ts';
import type { Stand } from './stand.ts';

const { apiKey, secret, accessKeyId, region, domain } = SINK_CREDENTIALS;
const HOUR_MS = 3_600_000;

/** Every kind of provider, the generic endpoint in its three ways. @param sinks asked only when a case runs */
export function createStands(sinks: () => Sinks): readonly Stand[] {
  const api = Object.entries(API_STANDS).map(([name, options]) => apiStand(sinks, name, options));
  return [smtpStand(sinks), ...api, peerStand()];
}

/** Stands before the sink for HTTP APIs, by dialect. */
export const API_STANDS: Readonly<Record<string, ApiStandOptions>> = {
  ses: mails(
    { kind: 'ses', region, accessKeyId, secretAccessKey: secret },
    { key: 'none', lookup: false, changed: { configurationSet: 'other' } },
  ),
  sendgrid: mails({ kind: 'sendgrid', apiKey, lookup: {} }, { key: 'none', lookup: true, lookupShowsReference: false }),
  postmark: mails(
    { kind: 'postmark', serverToken: apiKey },
    { key: 'none', lookup: true, batches: true, changed: { messageStream: 'other' } },
  ),
  mailgun: mails(
    { kind: 'mailgun', apiKey, domain },
    { key: 'none', lookup: true, changed: { domain: 'other.example' } },
  ),
  resend: mails(
    { kind: 'resend', apiKey },
    { key: 'replay', keyWindowMs: 24 * HOUR_MS, comparesPayload: true, lookup: false, batches: true },
  ),
  brevo: mails({ kind: 'brevo', apiKey }, { key: 'reject-duplicate', keyWindowMs: HOUR_MS / 4, lookup: true }),
  mailjet: mails(
    { kind: 'mailjet', apiKey, secretKey: secret, deduplicate: { windowSeconds: 3600 } },
    { key: 'replay', lookup: true, changed: { deduplicate: null } },
  ),
  sparkpost: mails({ kind: 'sparkpost', apiKey }, { key: 'none', lookup: true }),
  mailersend: mails({ kind: 'mailersend', apiKey, domainId: 'd1' }, { key: 'none', lookup: true }),
  'generic-replay': {
    ...endpoint('replay', {
      key: { form: 'raw', kind: 'replay', windowSeconds: 3600, comparesPayload: true },
      answers: { concurrent: [409], mismatch: [{ status: 422, jsonPath: '$.error.code', equals: 'key_reused' }] },
    }),
    changed: { headers: { 'x-version': '2' }, key: null },
    key: 'replay',
    comparesPayload: true,
    outgoing: callOf,
  },
  'generic-reject': {
    ...endpoint('reject', {
      mail: { method: 'POST', path: '/mails' },
      key: { form: 'quoted', kind: 'reject-duplicate', windowSeconds: 3600 },
      answers: {
        duplicate: [{ status: 409, jsonPath: '$.error.code', equals: 'duplicate_key' }],
        concurrent: [{ status: 409, jsonPath: '$.error.code', equals: 'in_progress' }],
        mismatch: [{ status: 422, jsonPath: '$.error.code', equals: 'key_reused' }],
      },
    }),
    changed: { key: { form: 'raw', kind: 'reject-duplicate', windowSeconds: 3600 } },
    key: 'reject-duplicate',
    outgoing: mailOf,
  },
  'generic-plain': {
    ...endpoint('plain', { mail: { method: 'POST', path: '/mails/{{ reference }}' } }),
    changed: { mail: { method: 'PUT', path: '/others' } },
    key: 'none',
    outgoing: mailOf,
  },
};

function mails(
  config: RawConfig,
  traits: Omit<ApiStandOptions, 'config' | 'outgoing' | 'changed'> & Partial<Pick<ApiStandOptions, 'changed'>>,
): ApiStandOptions {
  return {
    changed: null,
    ...traits,
    config: (baseUrl) => ({ ...config, baseUrl, allowPrivate: true, connections: CONNECTIONS }),
    outgoing: mailOf,
  };
}

function endpoint(
  profile: string,
  config: Readonly<Record<string, unknown>>,
): Pick<ApiStandOptions, 'config' | 'lookup'> {
  return {
    lookup: true,
    config: (baseUrl) => ({
      kind: 'http',
      baseUrl: `${baseUrl}/generic/${profile}`,
      allowPrivate: true,
      connections: CONNECTIONS,
      auth: { bearer: apiKey },
      effectId: { jsonPath: '$.data.id' },
      lookup: {
        path: '/things?ref={{ reference }}',
        found: { jsonPath: '$.items[0].reference', equals: '{{ reference }}' },
        effectId: { jsonPath: '$.items[0].id' },
        minAgeSeconds: 60,
      },
      ...config,
    }),
  };
}
