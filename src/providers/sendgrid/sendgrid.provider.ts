import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import {
  asObject,
  createMailApi,
  get,
  lookupAbility,
  orAbsent,
  postJson,
  receiptAbility,
  REFERENCE_NAME,
  sameAddress,
} from '../mail-api.ts';
import type { LookupQuery, OutgoingMail, Provider } from '../provider.port.ts';
import {
  acceptedAs,
  type EffectState,
  type Found,
  rejectedRecipient,
  type Verdict,
  verdictByStatus,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, retryAfterMs, textAt, untilEpochMs, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

/** Less than 30 MB in all. */
const MAX_BYTES = 29_000_000;

/** SendGrid v3: no keys; a look-up only with the paid activity feed. */
export function createSendgridProvider(config: ProviderConfigOf<'sendgrid'>): Provider {
  return createMailApi(config, {
    abilities: {
      key: { kind: 'none' },
      lookup: lookupAbility('by-reference', config.lookup),
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    },
    shape: null,
    shapeForm: z.null(),
    credential: [config.apiKey],
    compose: composeSendgrid,
    credentials: () => ({ authorization: `Bearer ${config.apiKey}` }),
    judge: judgeSendgrid,
    lookup: { compose: askSendgrid, read: readSendgrid },
  });
}

function composeSendgrid({ parts, envelope, reference }: OutgoingMail): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  return postJson('/v3/mail/send', {
    // Events show these as members of their own: the name must not be one of theirs.
    personalizations: [{ to: [{ email: envelope.to }], custom_args: { [REFERENCE_NAME]: reference } }],
    from: asObject(from, 'email', 'name'),
    reply_to: replyTo === null ? undefined : asObject(replyTo, 'email', 'name'),
    subject,
    content: [{ type: 'text/plain', value: text }, ...(html === null ? [] : [{ type: 'text/html', value: html }])],
    headers: orAbsent(headers),
  });
}

export function judgeSendgrid(answer: Answer): Verdict {
  // The id is in a header, the body is empty.
  if (answer.status === 202) return acceptedAs(answer.headers['x-message-id'] ?? null);
  const json = jsonOf(answer);
  const words = textAt(json, 'errors', 0, 'message') ?? '';
  if (answer.status === 429) {
    const waitMs = retryAfterMs(answer) ?? untilEpochMs(answer.headers['x-ratelimit-reset']);
    return { kind: 'throttled', retryAfterMs: waitMs, words };
  }
  const field = textAt(json, 'errors', 0, 'field') ?? '';
  if (answer.status === 400 && /^personalizations\.\d+\.to\b/.test(field)) return { ...rejectedRecipient, words };
  return { ...verdictByStatus(answer), words };
}

function askSendgrid({ reference }: LookupQuery): WireRequest {
  return get('/v3/messages', { query: `(unique_args['${REFERENCE_NAME}']="${reference}")`, limit: '10' });
}

const STATES: ReadonlyMap<string, EffectState> = new Map<string, EffectState>([
  ['delivered', 'delivered'],
  ['not_delivered', 'bounced'],
]);

export function readSendgrid(answer: Answer, { recipient }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !Array.isArray(valueAt(json, 'messages'))) return undefined;
  const row = listAt(json, 'messages').find(
    (each) => recipient === null || sameAddress(textAt(each, 'to_email'), recipient),
  );
  if (row === undefined) return 'miss';
  // `<X-Message-Id>.<the rest>`: the effect id is what the send call answered.
  const effectId = textAt(row, 'msg_id')?.split('.', 1)[0] ?? null;
  return { kind: 'hit', effectId, state: STATES.get(textAt(row, 'status') ?? '') ?? 'accepted' };
}
