import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import { asText, createMailApi, orAbsent, postJson, receiptAbility, REFERENCE_NAME } from '../mail-api.ts';
import type { OutgoingMail, Provider } from '../provider.port.ts';
import { account, acceptedAs, ambiguous, rejectedMessage, type Verdict, verdictByStatus } from '../verdict.ts';
import { type Answer, jsonOf, textAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const HOUR_MS = 3_600_000;
const MAX_BYTES = 40_000_000;

/** Resend: a key that replays the first answer for a day. Its rows show no tags, so there is nothing to look up by. */
export function createResendProvider(config: ProviderConfigOf<'resend'>): Provider {
  return createMailApi(config, {
    abilities: {
      key: { kind: 'replay', windowMs: 24 * HOUR_MS, marginMs: HOUR_MS, comparesPayload: true, scope: 'request' },
      lookup: { kind: 'none' },
      receipt: receiptAbility(config.receiptWaitSeconds),
      limits: { maxBytes: MAX_BYTES },
    },
    shape: null,
    shapeForm: z.null(),
    credential: [config.apiKey],
    compose: composeResend,
    credentials: () => ({ authorization: `Bearer ${config.apiKey}` }),
    judge: judgeResend,
  });
}

function composeResend({ parts, envelope, reference }: OutgoingMail): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  const body = {
    from: asText(from),
    to: [envelope.to],
    reply_to: replyTo === null ? undefined : asText(replyTo),
    subject,
    html: html ?? undefined,
    text,
    headers: orAbsent(headers),
    tags: [{ name: REFERENCE_NAME, value: reference }],
  };
  return postJson('/emails', body, { 'idempotency-key': reference });
}

export function judgeResend(answer: Answer): Verdict {
  const json = jsonOf(answer);
  if (answer.status === 200) return acceptedAs(textAt(json, 'id'));
  const name = textAt(json, 'name') ?? '';
  return { ...verdictOfName(answer, name), words: `${name}: ${textAt(json, 'message') ?? ''}` };
}

/** One status has several meanings here: two of 409, and a 429 may be a rate or a quota. */
function verdictOfName(answer: Answer, name: string): Verdict {
  if (answer.status >= 500) return ambiguous;
  switch (name) {
    case 'concurrent_idempotent_requests':
      return { kind: 'concurrent' };
    case 'invalid_idempotent_request':
      return { kind: 'key-mismatch' };
    case 'daily_quota_exceeded':
    case 'monthly_quota_exceeded':
    case 'security_error':
      return account;
    case 'invalid_idempotency_key':
      return rejectedMessage;
    default:
      return verdictByStatus(answer);
  }
}
