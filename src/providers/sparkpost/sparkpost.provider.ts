import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import {
  asObject,
  asText,
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
  strongestState,
  throttled,
  type Verdict,
  verdictByStatus,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const MAX_BYTES = 20_000_000;
/** For clocks that differ, in ms. */
const EARLIER_MS = 60_000;

/** SparkPost: no keys; its events are searched by recipient, and our reference compared in what comes back. */
export function createSparkpostProvider(config: ProviderConfigOf<'sparkpost'>): Provider {
  return createMailApi(config, {
    abilities: {
      key: { kind: 'none' },
      lookup: lookupAbility('by-recipient', config.lookup),
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    },
    shape: null,
    shapeForm: z.null(),
    credential: [config.apiKey],
    compose: composeSparkpost,
    credentials: () => ({ authorization: config.apiKey }),
    judge: judgeSparkpost,
    lookup: { compose: askSparkpost, read: readSparkpost },
  });
}

function composeSparkpost({ parts, envelope, reference, about }: OutgoingMail): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  return postJson('/api/v1/transmissions', {
    // Its own template language must not read what has been rendered.
    options: { transactional: about.class === 'transactional', perform_substitutions: false },
    recipients: [{ address: { email: envelope.to }, metadata: { [REFERENCE_NAME]: reference } }],
    content: {
      from: asObject(from, 'email', 'name'),
      reply_to: replyTo === null ? undefined : asText(replyTo),
      subject,
      html: html ?? undefined,
      text,
      headers: orAbsent(headers),
    },
  });
}

export function judgeSparkpost(answer: Answer): Verdict {
  const json = jsonOf(answer);
  if (answer.status === 200) {
    const refused = textAt(json, 'results', 'total_accepted_recipients') === '0';
    if (refused && textAt(json, 'results', 'total_rejected_recipients') === '1') return rejectedRecipient;
    return acceptedAs(refused ? null : textAt(json, 'results', 'id'));
  }
  const words = `${textAt(json, 'errors', 0, 'code') ?? ''}: ${textAt(json, 'errors', 0, 'message') ?? ''}`;
  // 420: the sending limit of the hour or the day.
  return { ...(answer.status === 420 ? throttled(answer) : verdictByStatus(answer)), words };
}

function askSparkpost({ recipient, since }: LookupQuery): WireRequest | null {
  if (recipient === null) return null;
  // Minutes, as the API writes its times.
  const from = new Date(since.getTime() - EARLIER_MS).toISOString().slice(0, 16);
  return get('/api/v1/events/message', { recipients: recipient, from: `${from}Z`, per_page: '1000' });
}

const STATES: ReadonlyMap<string, EffectState> = new Map<string, EffectState>([
  ['delivery', 'delivered'],
  ['open', 'delivered'],
  ['initial_open', 'delivered'],
  ['click', 'delivered'],
  ['bounce', 'bounced'],
  ['out_of_band', 'bounced'],
  ['spam_complaint', 'complained'],
  ['policy_rejection', 'rejected'],
  ['generation_rejection', 'rejected'],
  ['generation_failure', 'rejected'],
]);

export function readSparkpost(answer: Answer, { reference, recipient }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !Array.isArray(valueAt(json, 'results'))) return undefined;
  const ours = listAt(json, 'results').filter(
    (event) =>
      textAt(event, 'rcpt_meta', REFERENCE_NAME) === reference && sameAddress(textAt(event, 'rcpt_to'), recipient),
  );
  const state = strongestState(ours.map((event) => STATES.get(textAt(event, 'type') ?? '') ?? 'accepted'));
  if (state === null) return 'miss';
  return { kind: 'hit', effectId: textAt(ours[0], 'transmission_id'), state };
}
