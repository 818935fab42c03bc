import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import {
  asObject,
  createMailApi,
  get,
  headerList,
  lookupAbility,
  postJson,
  receiptAbility,
  sameAddress,
} from '../mail-api.ts';
import type { LookupQuery, OutgoingMail, Provider } from '../provider.port.ts';
import {
  acceptedAs,
  type EffectState,
  type Found,
  ownRows,
  strongestState,
  suppressed,
  throttled,
  type Verdict,
  verdictByStatus,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const MAX_BYTES = 25_000_000;
/** For clocks that differ. */
const EARLIER_SECONDS = 60;

/** MailerSend: no keys; a look-up by tag, which comes first, since its receipts are lost after two minutes. */
export function createMailersendProvider(config: ProviderConfigOf<'mailersend'>): Provider {
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
    compose: composeMailersend,
    credentials: () => ({ authorization: `Bearer ${config.apiKey}` }),
    judge: judgeMailersend,
    lookup: { compose: (query) => askMailersend(config.domainId, query), read: readMailersend },
  });
}

function composeMailersend({ parts, envelope, reference }: OutgoingMail): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  const list = headerList(headers, 'name', 'value');
  return postJson('/v1/email', {
    from: asObject(from, 'email', 'name'),
    reply_to: replyTo === null ? undefined : asObject(replyTo, 'email', 'name'),
    to: [{ email: envelope.to }],
    subject,
    html: html ?? undefined,
    text,
    // Needs a plan that has them; others answer 422, which is better than a mail without its unsubscribe link.
    headers: list.length === 0 ? undefined : list,
    tags: [reference],
  });
}

export function judgeMailersend(answer: Answer): Verdict {
  const json = jsonOf(answer);
  const words = textAt(json, 'message') ?? '';
  // The one recipient is on their list: accepted in form, and nothing goes out.
  if (hasSuppressedAll(json) && (answer.status === 202 || answer.status === 422)) return { ...suppressed, words };
  if (answer.status === 202) return acceptedAs(answer.headers['x-message-id'] ?? null);
  // 421: maintenance.
  return { ...(answer.status === 421 ? throttled(answer) : verdictByStatus(answer)), words };
}

function hasSuppressedAll(json: unknown): boolean {
  // With one recipient, some is all.
  return listAt(json, 'warnings').some((warning) =>
    ['ALL_SUPPRESSED', 'SOME_SUPPRESSED'].includes(textAt(warning, 'type') ?? ''),
  );
}

function askMailersend(domainId: string | null, { reference, recipient, since }: LookupQuery): WireRequest {
  return get('/v1/emails', {
    ...(domainId === null ? {} : { domain_id: domainId }),
    ...(recipient === null ? {} : { recipient_email: recipient }),
    date_from: String(Math.floor(since.getTime() / 1000) - EARLIER_SECONDS),
    tag: reference,
  });
}

const STATES: ReadonlyMap<string, EffectState> = new Map<string, EffectState>([
  ['delivered', 'delivered'],
  ['soft_bounced', 'bounced'],
  ['hard_bounced', 'bounced'],
  ['rejected', 'rejected'],
  ['junk', 'complained'],
]);

export function readMailersend(answer: Answer, { reference, recipient }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !Array.isArray(valueAt(json, 'data'))) return undefined;
  const ours = ownRows(listAt(json, 'data'), (row) => {
    const tags = listAt(row, 'tags');
    const to = textAt(row, 'recipient', 'email');
    if (recipient !== null && to !== null && !sameAddress(to, recipient)) return false;
    return tags.length === 0 ? null : tags.includes(reference);
  });
  if (ours === undefined) return undefined;
  const state = strongestState(ours.map((row) => STATES.get(textAt(row, 'status') ?? '') ?? 'accepted'));
  if (state === null) return 'miss';
  return { kind: 'hit', effectId: textAt(ours[0], 'message_id') ?? textAt(ours[0], 'id'), state };
}
