import { z } from 'zod';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import {
  asText,
  createMailApi,
  get,
  headerList,
  lookupAbility,
  receiptAbility,
  REFERENCE_NAME,
  sameAddress,
} from '../mail-api.ts';
import type { LookupQuery, OutgoingMail, Provider } from '../provider.port.ts';
import { acceptedAs, type EffectState, type Found, strongestState, type Verdict, verdictByStatus } from '../verdict.ts';
import { type Answer, jsonOf, listAt, textAt, valueAt } from '../wire/answer.ts';
import type { WireRequest } from '../wire/wire-request.ts';

const shapeForm = z.object({ domain: z.string() });

const MAX_BYTES = 25_000_000;
/** For clocks that differ. */
const EARLIER_SECONDS = 60;

/** Mailgun: no keys; its event log is searched by recipient, and our reference compared in what comes back. */
export function createMailgunProvider(config: ProviderConfigOf<'mailgun'>): Provider {
  const { domain, apiKey } = config;
  return createMailApi(config, {
    abilities: {
      key: { kind: 'none' },
      lookup: lookupAbility('by-recipient', config.lookup),
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    },
    shape: { domain },
    shapeForm,
    credential: [apiKey],
    compose: composeMailgun,
    credentials: () => ({ authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}` }),
    judge: judgeMailgun,
    lookup: { compose: (query) => askMailgun(domain, query), read: readMailgun },
  });
}

function composeMailgun(
  { parts, envelope, reference }: OutgoingMail,
  { domain }: { readonly domain: string },
): WireRequest {
  const { from, replyTo, subject, html, text, headers } = parts;
  const fields: readonly (readonly [string, string])[] = [
    ['from', asText(from)],
    ['to', envelope.to],
    ['subject', subject],
    ['text', text],
    ['html', html ?? ''],
    ['h:Reply-To', replyTo === null ? '' : asText(replyTo)],
    ...headerList(headers, 'name', 'value').map(({ name = '', value = '' }) => [`h:${name}`, value] as const),
    [`v:${REFERENCE_NAME}`, reference],
  ];
  const form = new URLSearchParams();
  for (const [name, value] of fields) if (value !== '') form.append(name, value);
  return {
    method: 'POST',
    path: `/v3/${encodeURIComponent(domain)}/messages`,
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(form.toString()),
  };
}

export function judgeMailgun(answer: Answer): Verdict {
  const json = jsonOf(answer);
  // Events name it without the brackets.
  if (answer.status === 200) return acceptedAs(textAt(json, 'id')?.replace(/^<(.*)>$/, '$1') ?? null);
  return { ...verdictByStatus(answer), words: textAt(json, 'message') ?? '' };
}

function askMailgun(domain: string, { recipient, since }: LookupQuery): WireRequest | null {
  if (recipient === null) return null;
  const begin = Math.floor(since.getTime() / 1000) - EARLIER_SECONDS;
  const query = { recipient, begin: String(begin), ascending: 'yes', limit: '300' };
  return get(`/v3/${encodeURIComponent(domain)}/events`, query);
}

export function readMailgun(answer: Answer, { reference, recipient }: LookupQuery): Found | undefined {
  const json = jsonOf(answer);
  if (answer.status !== 200 || !Array.isArray(valueAt(json, 'items'))) return undefined;
  const ours = listAt(json, 'items').filter(
    (item) =>
      textAt(item, 'user-variables', REFERENCE_NAME) === reference && sameAddress(textAt(item, 'recipient'), recipient),
  );
  const state = strongestState(ours.map((item) => stateOf(item)));
  if (state === null) return 'miss';
  const effectId = ours.map((item) => textAt(item, 'message', 'headers', 'message-id')).find((id) => id !== null);
  return { kind: 'hit', effectId: effectId ?? null, state };
}

const STATES: ReadonlyMap<string, EffectState> = new Map<string, EffectState>([
  ['delivered', 'delivered'],
  ['opened', 'delivered'],
  ['clicked', 'delivered'],
  ['unsubscribed', 'delivered'],
  ['complained', 'complained'],
  ['rejected', 'rejected'],
]);

function stateOf(item: unknown): EffectState {
  const event = textAt(item, 'event') ?? '';
  // A temporary failure is tried again by them.
  if (event === 'failed' && textAt(item, 'severity') === 'permanent') return 'bounced';
  return STATES.get(event) ?? 'accepted';
}
