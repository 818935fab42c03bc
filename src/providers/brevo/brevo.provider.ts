import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import { asObject, createMailApi, get, lookupAbility, postJson, receiptAbility, sameAddress } from '../mail-api.ts';
import type { LookupQuery, OutgoingMail, Provider } from '../provider.port.ts';
import {
  account,
  acceptedAs,
  type EffectState,
  type Found,
  ownRows,
  strongestState,
  type Verdict,
  verdictByStatus,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_BYTES = 20_000_000;
/** Events are kept for 90 days. */
const MAX_DAYS = 90;

/** Brevo: a key that refuses a repeat without saying what became of the first, and a look-up by tag. */
export function createBrevoProvider(config: ProviderConfigOf<'brevo'>): Provider {
  return createMailApi(config, {
    abilities: {
      // Documented as 30 minutes, announced as 15: the shorter one.
      key: {
        kind: 'reject-duplicate',
        windowMs: 15 * MINUTE_MS,
        marginMs: 3 * MINUTE_MS,
        comparesPayload: false,
        scope: 'request',
      },
      lookup: lookupAbility('by-reference', config.lookup),
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    },
    shape: null,
    shapeForm: z.null(),
    credential: [config.apiKey],
    compose: composeBrevo,
    credentials: () => ({ 'api-key': config.apiKey }),
    judge: judgeBrevo,
    lookup: { compose: askBrevo, read: readBrevo },
  });
}

function composeBrevo({ parts, envelope, reference }: OutgoingMail): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  return postJson('/v3/smtp/email', {
    sender: asObject(from, 'email', 'name'),
    to: [{ email: envelope.to }],
    replyTo: replyTo === null ? undefined : asObject(replyTo, 'email', 'name'),
    subject,
    htmlContent: html ?? undefined,
    textContent: text,
    headers: {
      ...headers,
      // The guide has the first name, the client library the second.
      idempotencyKey: reference,
      'Idempotency-Key': reference,
      'X-Mailin-custom': reference,
    },
    tags: [reference],
  });
}

const ACCOUNT_CODES: ReadonlySet<string> = new Set([
  'unauthorized',
  'permission_denied',
  'not_enough_credits',
  'account_under_validation',
  'reseller_permission_denied',
]);

export function judgeBrevo(answer: Answer): Verdict {
  const json = jsonOf(answer);
  if (answer.status === 201) return acceptedAs(textAt(json, 'messageId') ?? textAt(json, 'messageIds', 0));
  const code = textAt(json, 'code') ?? '';
  const words = `${code}: ${textAt(json, 'message') ?? ''}`;
  if (answer.status >= 400 && answer.status < 500) {
    if (code === 'duplicate_parameter') return { kind: 'duplicate', words };
    if (ACCOUNT_CODES.has(code)) return { ...account, words };
  }
  return { ...verdictByStatus(answer), words };
}

function askBrevo({ reference, recipient, since }: LookupQuery): WireRequest {
  const days = Math.min(MAX_DAYS, Math.max(1, Math.ceil((Date.now() - since.getTime()) / DAY_MS) + 1));
  return get('/v3/smtp/statistics/events', {
    ...(recipient === null ? {} : { email: recipient }),
    tags: JSON.stringify([reference]),
    days: String(days),
    limit: '100',
  });
}

const STATES: ReadonlyMap<string, EffectState> = new Map<string, EffectState>([
  ['delivered', 'delivered'],
  ['opened', 'delivered'],
  ['clicks', 'delivered'],
  ['unsubscribed', 'delivered'],
  ['hardBounces', 'bounced'],
  ['bounces', 'bounced'],
  ['invalid', 'rejected'],
  ['blocked', 'rejected'],
  ['error', 'rejected'],
  ['spam', 'complained'],
]);

export function readBrevo(answer: Answer, { reference, recipient }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !isEventList(json)) return undefined;
  const ours = ownRows(listAt(json, 'events'), (event) => {
    const tag = textAt(event, 'tag');
    const to = textAt(event, 'email');
    if (recipient !== null && to !== null && !sameAddress(to, recipient)) return false;
    return tag === null ? null : tag.includes(reference);
  });
  if (ours === undefined) return undefined;
  const state = strongestState(ours.map((event) => STATES.get(textAt(event, 'event') ?? '') ?? 'accepted'));
  if (state === null) return 'miss';
  return { kind: 'hit', effectId: textAt(ours[0], 'messageId'), state };
}

/** Without any event the list is left out. */
function isEventList(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false;
  return Array.isArray(valueAt(json, 'events')) || Object.keys(json).length === 0;
}
