import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import type { KeyAbility } from '../abilities.ts';
import { asObject, createMailApi, get, lookupAbility, orAbsent, postJson, receiptAbility } from '../mail-api.ts';
import type { LookupQuery, OutgoingMail, Provider } from '../provider.port.ts';
import {
  acceptedAs,
  ambiguous,
  type EffectState,
  type Found,
  ownRows,
  rejectedRecipient,
  strongestState,
  type Verdict,
  verdictByStatus,
} from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const shapeForm = z.object({ deduplicate: z.boolean() });

const MAX_BYTES = 15_000_000;
/** For clocks that differ. */
const EARLIER_SECONDS = 60;

/** Mailjet: a look-up by CustomID; and if configured, one campaign per mail, in which a recipient is mailed only once. */
export function createMailjetProvider(config: ProviderConfigOf<'mailjet'>): Provider {
  const { apiKey, secretKey, deduplicate } = config;
  return createMailApi(config, {
    abilities: {
      key: keyAbility(deduplicate),
      lookup: lookupAbility('by-reference', config.lookup),
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    },
    shape: { deduplicate: deduplicate !== null },
    shapeForm,
    credential: [apiKey, secretKey],
    compose: composeMailjet,
    credentials: () => ({ authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString('base64')}` }),
    judge: judgeMailjet,
    lookup: { compose: askMailjet, read: readMailjet },
  });
}

/** A repeat is accepted and then blocked, whatever its content: to the caller the first answer again. */
function keyAbility(deduplicate: ProviderConfigOf<'mailjet'>['deduplicate']): KeyAbility {
  if (deduplicate === null) return { kind: 'none' };
  return {
    kind: 'replay',
    windowMs: deduplicate.windowSeconds * 1000,
    marginMs: deduplicate.marginSeconds * 1000,
    comparesPayload: false,
    scope: 'recipient',
  };
}

function composeMailjet({ parts, envelope, reference }: OutgoingMail, shape: z.output<typeof shapeForm>): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  const message = {
    From: asObject(from, 'Email', 'Name'),
    ReplyTo: replyTo === null ? undefined : asObject(replyTo, 'Email', 'Name'),
    To: [{ Email: envelope.to }],
    Subject: subject,
    HTMLPart: html ?? undefined,
    TextPart: text,
    Headers: orAbsent(headers),
    CustomID: reference,
    ...(shape.deduplicate ? { CustomCampaign: `einmal-${reference}`, DeduplicateCampaign: true } : {}),
  };
  return postJson('/v3.1/send', { Messages: [message] });
}

/** The message's own status decides where there is one: a 4xx may hold a success, and a 200 an error. */
export function judgeMailjet(answer: Answer): Verdict {
  if (answer.status >= 500) return ambiguous;
  const json = jsonOf(answer);
  const message = valueAt(json, 'Messages', 0);
  const status = textAt(message, 'Status');
  if (status === 'success') return acceptedAs(textAt(message, 'To', 0, 'MessageID'));
  const error = valueAt(message, 'Errors', 0);
  if (status === 'error' && error !== undefined) return { ...verdictOfError(error), words: wordsOf(error) };
  return { ...verdictByStatus(answer), words: wordsOf(json) };
}

function verdictOfError(error: unknown): Verdict {
  const status = Number(textAt(error, 'StatusCode') ?? Number.NaN);
  if (status >= 400 && status < 500) {
    const verdict = verdictByStatus({ status, headers: {}, body: Buffer.alloc(0), whole: true });
    return verdict.kind === 'rejected' && isAboutRecipient(error) ? rejectedRecipient : verdict;
  }
  return ambiguous;
}

/** `ErrorRelatedTo` names members of the request, e.g. `To[0].Email`. */
function isAboutRecipient(error: unknown): boolean {
  return listAt(error, 'ErrorRelatedTo').some((member) => typeof member === 'string' && /^To\b/.test(member));
}

function wordsOf(error: unknown): string {
  return `${textAt(error, 'ErrorCode') ?? ''}: ${textAt(error, 'ErrorMessage') ?? ''}`;
}

function askMailjet({ reference, since }: LookupQuery): WireRequest {
  const from = Math.floor(since.getTime() / 1000) - EARLIER_SECONDS;
  return get('/v3/REST/message', { CustomID: reference, ShowCustomID: 'true', FromTS: String(from), Limit: '10' });
}

const STATES: ReadonlyMap<string, EffectState> = new Map<string, EffectState>([
  ['sent', 'delivered'],
  ['opened', 'delivered'],
  ['clicked', 'delivered'],
  ['unsub', 'delivered'],
  ['bounce', 'bounced'],
  ['hardbounced', 'bounced'],
  ['softbounced', 'bounced'],
  ['spam', 'complained'],
  ['blocked', 'rejected'],
]);

export function readMailjet(answer: Answer, { reference }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !Array.isArray(valueAt(json, 'Data'))) return undefined;
  const ours = ownRows(listAt(json, 'Data'), (row) => {
    const shown = textAt(row, 'CustomID');
    return shown === null ? null : shown === reference;
  });
  if (ours === undefined) return undefined;
  // Repeats that deduplication blocked stand beside the one that went out.
  const sent = ours.filter((row) => stateOf(row) !== 'rejected');
  const counted = sent.length > 0 ? sent : ours;
  const state = strongestState(counted.map((row) => stateOf(row)));
  if (state === null) return 'miss';
  return { kind: 'hit', effectId: textAt(counted[0], 'ID'), state };
}

function stateOf(row: unknown): EffectState {
  return STATES.get(textAt(row, 'Status')?.toLowerCase() ?? '') ?? 'accepted';
}
