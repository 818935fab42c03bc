import type { z } from 'zod';
import { canonicalJson } from '../runtime/canonical-json.ts';
import type { Abilities, BatchAbility, LookupAbility, ReceiptAbility } from './abilities.ts';
import type { Mailbox, OutgoingMail, Provider } from './provider.port.ts';
import type { Verdict } from './verdict.ts';
import type { Answer } from './wire/answer.ts';
import { JSON_HEADERS, type WireRequest } from './wire/wire-request.ts';
import {
  createWiredProvider,
  type WiredApi,
  type WiredBatch,
  type WiredLookup,
  type WiredSettings,
} from './wired-provider.ts';

/** Under this name every mail API carries our reference, and gives it back with its receipts. */
export const REFERENCE_NAME = 'einmal-ref';

/** The narrowest of their forms (tags of SES and Resend). */
const REFERENCE_FORM = /^[A-Za-z0-9_-]{1,64}$/;

/** What one vendor's API asks for and answers. Functions are pure but for `credentials`. */
export interface MailApi<S> {
  readonly abilities: Abilities;
  /** Settings that shape the bytes, and how those of an earlier attempt are read. */
  readonly shape: S;
  readonly shapeForm: z.ZodType<S>;
  /** As of WiredApi. */
  readonly credential: readonly string[];
  compose(mail: OutgoingMail, shape: S): WireRequest;
  credentials(request: WireRequest): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  judge(answer: Answer, mail: OutgoingMail): Verdict;
  readonly lookup?: WiredLookup;
  readonly batch?: WiredBatch;
}

/** A provider that takes mails, one recipient each, and nothing else. */
export function createMailApi<S extends Readonly<Record<string, unknown>> | null>(
  settings: WiredSettings,
  api: MailApi<S>,
): Provider {
  const wired: WiredApi = {
    abilities: api.abilities,
    shape: api.shape,
    credential: api.credential,
    compose: (outgoing, given) => {
      if (outgoing.kind !== 'email') return { ok: false, rule: 'kind: this provider takes mails only' };
      if (!REFERENCE_FORM.test(outgoing.reference))
        return { ok: false, rule: 'reference: has a form that tags cannot' };
      const shape = api.shapeForm.safeParse(given);
      if (!shape.success) return { ok: false, rule: 'shape: is not one of this kind of provider' };
      return { ok: true, request: api.compose(outgoing, shape.data) };
    },
    credentials: async (request) => await api.credentials(request),
    judge: (answer, outgoing) => (outgoing.kind === 'email' ? api.judge(answer, outgoing) : { kind: 'ambiguous' }),
    ...(api.lookup === undefined ? {} : { lookup: api.lookup }),
    ...(api.batch === undefined ? {} : { batch: api.batch }),
  };
  return createWiredProvider(settings, wired);
}

/** A POST of JSON; its members in the order of RFC 8785, so that the same content is the same bytes. */
export function postJson(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): WireRequest {
  const text = canonicalJson(body, 'escape');
  return { method: 'POST', path, headers: { ...JSON_HEADERS, ...headers }, body: Buffer.from(text) };
}

/** A POST of the JSON bodies of these requests as one list, in their order and byte for byte. */
export function postList(
  path: string,
  requests: readonly WireRequest[],
  headers: Readonly<Record<string, string>> = {},
): WireRequest {
  const [open, comma, close] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
  const items = requests.flatMap(({ body }, index) => [index === 0 ? open : comma, ...(body === null ? [] : [body])]);
  return { method: 'POST', path, headers: { ...JSON_HEADERS, ...headers }, body: Buffer.concat([...items, close]) };
}

export function get(path: string, query: Readonly<Record<string, string>>): WireRequest {
  const text = new URLSearchParams(query).toString();
  return { method: 'GET', path: `${path}?${text}`, headers: { accept: 'application/json' }, body: null };
}

/** A mailbox in the form of a header, for vendors that take it as one text. Quoted, since a name may hold a comma. */
export function asText({ name, address }: Mailbox): string {
  if (name === null || name === '') return address;
  return `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>`;
}

/** A mailbox as an object under the vendor's names for its members; a missing name is left out. */
export function asObject(
  { name, address }: Mailbox,
  addressKey: string,
  nameKey: string,
): Readonly<Record<string, string>> {
  return name === null || name === '' ? { [addressKey]: address } : { [addressKey]: address, [nameKey]: name };
}

/** Headers as a list of objects, by name: the same order at every attempt. */
export function headerList(
  headers: Readonly<Record<string, string>>,
  nameKey: string,
  valueKey: string,
): readonly Readonly<Record<string, string>>[] {
  return Object.entries(headers)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => ({ [nameKey]: name, [valueKey]: value }));
}

/** undefined for what is empty, so that it is left out of the JSON. */
export function orAbsent<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

/** The ability of a look-up as configured; null: the credential may not look. */
export function lookupAbility(
  kind: 'by-reference' | 'by-recipient',
  lookup: { readonly minAgeSeconds: number; readonly miss: 'hold' | 'resend' } | null,
): LookupAbility {
  if (lookup === null) return { kind: 'none' };
  return { kind, minAgeMs: lookup.minAgeSeconds * 1000, miss: lookup.miss };
}

/** @param maxBytes of one batch call */
export function batchAbility(batchSize: number, maxBytes: number): BatchAbility {
  return batchSize < 2 ? { kind: 'none' } : { kind: 'per-message', max: batchSize, maxBytes };
}

/** null: no receipts reach the service. */
export function receiptAbility(waitSeconds: number | null): ReceiptAbility {
  return waitSeconds === null ? { kind: 'none' } : { kind: 'proves-acceptance', waitMs: waitSeconds * 1000 };
}

export function sameAddress(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a.toLowerCase() === b.toLowerCase();
}
