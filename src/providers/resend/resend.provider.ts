import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import {
  asText,
  batchAbility,
  createMailApi,
  orAbsent,
  postJson,
  postList,
  receiptAbility,
  REFERENCE_NAME,
} from '../mail-api.ts';
import type { OutgoingMail, Provider } from '../provider.port.ts';
import {
  account,
  acceptedAs,
  ambiguous,
  rejectedMessage,
  type Verdict,
  verdictByStatus,
  verdictOfAll,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const HOUR_MS = 3_600_000;
const MAX_BYTES = 40_000_000;

/** Resend: a key that replays the first answer for a day, that of a batch too. Its rows show no tags, so there is nothing to look up by. */
export function createResendProvider(config: ProviderConfigOf<'resend'>): Provider {
  return createMailApi(config, {
    abilities: {
      key: { kind: 'replay', windowMs: 24 * HOUR_MS, marginMs: HOUR_MS, comparesPayload: true, scope: 'request' },
      lookup: { kind: 'none' },
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: batchAbility(config.batchSize, MAX_BYTES),
      limits: { maxBytes: MAX_BYTES },
    },
    shape: null,
    shapeForm: z.null(),
    credential: [config.apiKey],
    compose: composeResend,
    credentials: () => ({ authorization: `Bearer ${config.apiKey}` }),
    judge: judgeResend,
    batch: { compose: composeResendBatch, judge: judgeResendBatch },
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

/** Permissive: what is wrong with one mail keeps no other back, and is told by its index. */
function composeResendBatch(requests: readonly WireRequest[], key: string): WireRequest {
  return postList('/emails/batch', requests, { 'idempotency-key': key, 'x-batch-validation': 'permissive' });
}

/** `data`: the ids of those that were taken, in their order; `errors`: index and reason of each other. */
export function judgeResendBatch(answer: Answer, messages: number): readonly Verdict[] {
  if (answer.status !== 200) return verdictOfAll(judgeResend(answer), messages);
  const json = jsonOf(answer);
  const [taken, errors] = [listAt(json, 'data'), listAt(json, 'errors')];
  const refused = new Map(errors.map((error) => [valueAt(error, 'index'), error]));
  const indexes = Array.from({ length: messages }, (_, index) => index);
  const known = indexes.filter((index) => refused.has(index)).length;
  if (known !== errors.length || taken.length + known !== messages) return [];
  const ids = taken.values();
  return indexes.map((index) =>
    refused.has(index)
      ? { ...rejectedMessage, words: textAt(refused.get(index), 'message') ?? '' }
      : acceptedAs(textAt(ids.next().value, 'id')),
  );
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
