import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import {
  asText,
  batchAbility,
  createMailApi,
  get,
  headerList,
  lookupAbility,
  postJson,
  postList,
  receiptAbility,
  REFERENCE_NAME,
} from '../mail-api.ts';
import type { LookupQuery, OutgoingMail, Provider } from '../provider.port.ts';
import {
  account,
  acceptedAs,
  type Found,
  ownRows,
  rejectedMessage,
  rejectedRecipient,
  suppressed,
  type Verdict,
  verdictByStatus,
  verdictOfAll,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const shapeForm = z.object({ messageStream: z.string(), marketingStream: z.string().nullable() });

const MAX_BYTES = 10_000_000;
/** Of a batch as a whole. */
const MAX_BATCH_BYTES = 50_000_000;

/** Postmark: no keys, a look-up by metadata. */
export function createPostmarkProvider(config: ProviderConfigOf<'postmark'>): Provider {
  return createMailApi(config, {
    abilities: {
      key: { kind: 'none' },
      lookup: lookupAbility('by-reference', config.lookup),
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: batchAbility(config.batchSize, MAX_BATCH_BYTES),
      limits: { maxBytes: MAX_BYTES },
    },
    shape: { messageStream: config.messageStream, marketingStream: config.marketingStream },
    shapeForm,
    credential: [config.serverToken],
    compose: composePostmark,
    credentials: () => ({ 'x-postmark-server-token': config.serverToken }),
    judge: judgePostmark,
    lookup: { compose: askPostmark, read: readPostmark },
    batch: { compose: (requests) => postList('/email/batch', requests), judge: judgePostmarkBatch },
  });
}

function composePostmark(mail: OutgoingMail, shape: z.output<typeof shapeForm>): WireRequest {
  const { from, replyTo, subject, html, text, headers } = mail.parts;
  const marketing = mail.about.class === 'marketing' ? shape.marketingStream : null;
  return postJson('/email', {
    From: asText(from),
    To: mail.envelope.to,
    ReplyTo: replyTo === null ? undefined : asText(replyTo),
    Subject: subject,
    HtmlBody: html ?? undefined,
    TextBody: text,
    MessageStream: marketing ?? shape.messageStream,
    Metadata: { [REFERENCE_NAME]: mail.reference },
    Headers: headerList(headers, 'Name', 'Value'),
  });
}

/** ErrorCode of a 422. Token, sender signature, credits, approval: the account's. */
const ACCOUNT_CODES: ReadonlySet<string> = new Set(['10', '400', '401', '405', '412']);

export function judgePostmark(answer: Answer): Verdict {
  const json = jsonOf(answer);
  const code = textAt(json, 'ErrorCode');
  const words = code === null ? '' : `${code}: ${textAt(json, 'Message') ?? ''}`;
  // An answer that speaks of a delay leaves the code out.
  if (answer.status === 200 && (code === '0' || code === null)) return acceptedAs(textAt(json, 'MessageID'));
  if (answer.status !== 422 || code === null) return { ...verdictByStatus(answer), words };
  return { ...refusedBy(code), words };
}

/** 200 and a list, in which each message has what it would have been answered alone. */
export function judgePostmarkBatch(answer: Answer, messages: number): readonly Verdict[] {
  if (answer.status !== 200) return verdictOfAll(judgePostmark(answer), messages);
  return listAt(jsonOf(answer)).map((each) => {
    const code = textAt(each, 'ErrorCode');
    if (code === '0' || code === null) return acceptedAs(textAt(each, 'MessageID'));
    return { ...refusedBy(code), words: `${code}: ${textAt(each, 'Message') ?? ''}` };
  });
}

function refusedBy(code: string): Verdict {
  if (code === '406') return suppressed;
  if (code === '300') return rejectedRecipient;
  return ACCOUNT_CODES.has(code) ? account : rejectedMessage;
}

function askPostmark({ reference }: LookupQuery): WireRequest {
  return get('/messages/outbound', { [`metadata_${REFERENCE_NAME}`]: reference, count: '10', offset: '0' });
}

export function readPostmark(answer: Answer, { reference }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !Array.isArray(valueAt(json, 'Messages'))) return undefined;
  const ours = ownRows(listAt(json, 'Messages'), (row) => {
    const shown = textAt(row, 'Metadata', REFERENCE_NAME);
    return shown === null ? null : shown === reference;
  });
  if (ours === undefined) return undefined;
  return ours.length === 0 ? 'miss' : { kind: 'hit', effectId: textAt(ours[0], 'MessageID'), state: 'accepted' };
}
