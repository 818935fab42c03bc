/** One request of a client, read to its end. Names of headers are in lower case. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request asks to be done once. */
export interface Submission {
  /** The client's own name for it, taken from where this vendor carries it. */
  readonly reference: string;
  /** null where the vendor is not one for mails. */
  readonly recipient: string | null;
  readonly subject: string | null;
  /** The idempotency key; null where the request has none. */
  readonly key: string | null;
  /** How the key was written; `member` is in the body. */
  readonly keyForm: 'raw' | 'quoted' | 'member' | null;
}

/** Something that the vendor has done: a mail that it would send. */
export interface Effect {
  /** The vendor's id. */
  readonly id: string;
  readonly dialect: string;
  readonly reference: string;
  readonly recipient: string | null;
  readonly subject: string | null;
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
}

/** Reasons to refuse, each answered in the vendor's own form. */
export const REFUSALS = [
  'bad-request',
  'unauthorized',
  'forbidden',
  'quota',
  'throttled',
  'unavailable',
  'server-error',
  'concurrent',
  'mismatch',
  'duplicate',
  'rejected-message',
  'rejected-recipient',
  'suppressed',
] as const;
export type Refusal = (typeof REFUSALS)[number];

export interface KeyHabit {
  /**
   * `replay` gives the first answer again, `reject` says that the key was seen, `dedupe` takes the request and quietly leaves
   * out the effect.
   */
  readonly kind: 'replay' | 'reject' | 'dedupe';
  readonly windowMs: number;
  readonly comparesPayload: boolean;
}

/** Why one message of a request is not taken, whatever becomes of the others. */
export interface MessageRefusal {
  readonly refusal: Refusal;
  readonly reason: string;
}

/** How a vendor takes several messages in one request. */
export interface BatchHabit {
  /** The messages, each as the request that it would be alone; or in words why none of them is looked at. */
  split(request: ApiRequest): readonly ApiRequest[] | string;
  /** Whether one that is wrong leaves the others as they are. */
  isPermissive(request: ApiRequest): boolean;
  /** One answer about all, given in their order. */
  accept(results: readonly (Effect | MessageRefusal)[]): ApiAnswer;
}

/** How one vendor's API speaks. What it remembers is kept by the sink, not here. */
export interface ApiDialect {
  readonly name: string;
  readonly keys: KeyHabit | null;
  /** What a request of this method and path is for this vendor; null: not his. */
  route(method: string, path: string): 'send' | 'batch' | 'lookup' | null;
  /** null when the request carries the sink's credential in the vendor's way, else what is wrong. */
  refuseCredential(request: ApiRequest): string | null;
  /** The submission, or in words why the vendor would not take the request. */
  read(request: ApiRequest): Promise<Submission | string>;
  /** @param n number of the effect, from 1 */
  effectId(n: number): string;
  accept(effect: Effect, request: ApiRequest): ApiAnswer;
  readonly batch?: BatchHabit;
  /** null where the vendor has no such answer. */
  refuse(refusal: Refusal, reason: string): ApiAnswer | null;
  /** Answers a lookup from the effects that its index shows already. */
  find?(request: ApiRequest, visible: readonly Effect[]): ApiAnswer;
}

/** Seconds that every throttled answer asks to wait. */
export const RETRY_AFTER_SECONDS = 7;

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

export function plain(status: number, body: string, headers: Readonly<Record<string, string>> = {}): ApiAnswer {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body };
}

/** The object that the body is; an empty one where it is none. */
export function bodyObject(request: ApiRequest): Readonly<Record<string, unknown>> {
  return objectIn(jsonIn(request.body));
}

/** The items of a body that is a list, each as the body of a request of its own. */
export function splitList(request: ApiRequest, most: number): readonly ApiRequest[] | string {
  const items = listIn(jsonIn(request.body));
  if (items.length === 0) return 'the body is no list of messages';
  if (items.length > most) return `more than ${most} messages`;
  return items.map((item) => ({ ...request, body: Buffer.from(JSON.stringify(item)) }));
}

export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The only one of a list, else undefined: every request of ours is about one recipient. */
export function single(value: unknown): unknown {
  const list = listIn(value);
  return list.length === 1 ? list[0] : undefined;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Our reference among values that may also be others: it is a UUID, and fits the narrowest field of all vendors. */
export function referenceAmong(values: readonly unknown[]): string | null {
  return values.map(textIn).find((text) => text !== null && UUID.test(text)) ?? null;
}

/** The address in `Name <address>` or in a bare address. */
export function addressIn(value: unknown): string | null {
  const text = textIn(value);
  if (text === null) return null;
  const address = /<([^<>]+)>\s*$/.exec(text)?.[1] ?? text;
  return address.includes('@') && !/[\s<>]/.test(address) ? address : null;
}

/** The first of these that is missing, in words for a refusal; null when all are there. */
export function firstMissing(parts: Readonly<Record<string, unknown>>): string | null {
  const missing = Object.entries(parts).find(([, value]) => value === null || value === undefined || value === '');
  return missing === undefined ? null : `${missing[0]} is missing or not as it must be`;
}

/** A reason for `refuseCredential` when the header is not exactly this. */
export function unlessHeader(request: ApiRequest, name: string, value: string): string | null {
  return request.headers[name] === value ? null : `header ${name} does not carry the credential`;
}

/** Effects that are not older than a moment in ms since 1970; NaN shows none, as a filter that cannot be read should. */
export function since(effects: readonly Effect[], moment: number): readonly Effect[] {
  return effects.filter(({ at }) => at >= moment);
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
