import { createHash } from 'node:crypto';
import { scrubAddresses } from '../mail/scrub-addresses.ts';
import { errorCode, ServiceError } from '../runtime/service-error.ts';
import { type Abilities, inconsistencies } from './abilities.ts';
import type {
  CallOutcome,
  LookupOutcome,
  LookupQuery,
  Outgoing,
  Prepared,
  PreparedBatch,
  PreparedCall,
  Provider,
  Shape,
} from './provider.port.ts';
import { ambiguous, type Found, type Verdict } from './verdict.ts';
import { type Answer, MAX_ANSWER_BYTES, MAX_ANSWER_BYTES_EACH, retryAfterMs } from './wire/answer.ts';
import type { WireResult } from './wire/http-call.ts';
import { HttpWire } from './wire/http-wire.ts';
import { unsendable, wireBytes, wireHash, type WireRequest } from './wire/wire-request.ts';

export type Composed =
  { readonly ok: true; readonly request: WireRequest } | { readonly ok: false; readonly rule: string };

/** What one kind of HTTP endpoint asks, and how it reads the answers. All of it pure but for `credentials`. */
export interface WiredApi {
  readonly abilities: Abilities;
  readonly shape: Shape;
  /** What proves who asks: tells accounts apart, and is in no diagnostic. */
  readonly credential: readonly string[];
  /** Paths without that of the base URL. Throws a ServiceError `not-canonical` for content that JSON cannot hold. */
  compose(outgoing: Outgoing, shape: Shape): Composed;
  /** Headers that prove who asks; made for each call, never part of the hash. `request` has its whole path. */
  credentials(request: WireRequest): Promise<Readonly<Record<string, string>>>;
  judge(answer: Answer, outgoing: Outgoing): Verdict;
  readonly lookup?: WiredLookup;
  readonly batch?: WiredBatch;
}

export interface WiredBatch {
  /** One request of those of single calls, in their order; made of their bodies, whose paths and headers are of no use here. */
  compose(requests: readonly WireRequest[], key: string): WireRequest;
  /** One verdict per message, by index. As many as there are, or the answer says nothing of any of them. */
  judge(answer: Answer, messages: number): readonly Verdict[];
}

export interface WiredLookup {
  /** null: the query lacks what the provider would have to be asked by. */
  compose(query: LookupQuery): WireRequest | null;
  /** `undefined`: the answer says nothing. */
  read(answer: Answer, query: LookupQuery): Found | undefined;
}

/** What every HTTP provider is told by the configuration. */
export interface WiredSettings {
  readonly kind: string;
  readonly providerName: string;
  /** With an optional path, without a slash at its end. */
  readonly baseUrl: string;
  readonly allowPrivate: boolean;
  readonly connections: number;
  readonly timeoutSeconds: number;
}

/** @throws ServiceError `inconsistent-abilities` */
export function createWiredProvider(settings: WiredSettings, api: WiredApi): Provider {
  const wrong = inconsistencies(api.abilities);
  if (api.abilities.batch.kind !== 'none' && api.batch === undefined) wrong.push('batch: there is none to be made');
  if (wrong.length > 0) {
    const message = `provider ${settings.providerName}: ${wrong.join('; ')}`;
    throw new ServiceError('inconsistent-abilities', message, { retryable: false });
  }
  return new WiredProvider(settings, api);
}

/** What a call was prepared from. */
interface Parts {
  readonly outgoing: Outgoing;
  readonly request: WireRequest;
}

class WiredProvider implements Provider {
  readonly name: string;
  readonly abilities: Abilities;
  readonly concurrency: number;
  readonly account: string;
  readonly shape: Shape;
  readonly lookup?: (query: LookupQuery, timeoutMs: number) => Promise<LookupOutcome>;
  readonly prepareBatch?: (calls: readonly PreparedCall[], key: string) => PreparedBatch;
  /** Of calls that may become part of a batch, while somebody holds them. */
  readonly #parts = new WeakMap<PreparedCall, Parts>();
  readonly #api: WiredApi;
  readonly #basePath: string;
  readonly #wire: HttpWire;

  constructor(settings: WiredSettings, api: WiredApi) {
    const base = new URL(settings.baseUrl);
    this.name = settings.providerName;
    this.abilities = api.abilities;
    this.concurrency = settings.connections;
    this.account = accountOf(settings.kind, settings.baseUrl, api.credential);
    this.shape = api.shape;
    this.#api = api;
    this.#basePath = base.pathname.replace(/\/$/, '');
    this.#wire = new HttpWire({
      origin: base.origin,
      connections: settings.connections,
      timeoutMs: settings.timeoutSeconds * 1000,
      allowPrivate: settings.allowPrivate,
    });
    const { lookup, batch } = api;
    if (batch !== undefined) this.prepareBatch = (calls, key) => this.#preparedBatch(batch, calls, key);
    if (lookup !== undefined && api.abilities.lookup.kind !== 'none') {
      this.lookup = async (query, timeoutMs) => await this.#lookUp(lookup, query, timeoutMs);
    }
  }

  prepare(outgoing: Outgoing, shape: Shape): Prepared {
    const composed = this.#compose(outgoing, shape);
    if (!composed.ok) return composed;
    const request = this.#placed(composed.request);
    const rule = unsendable(request) ?? tooLarge(request, this.abilities);
    if (rule !== null) return { ok: false, rule };
    return { ok: true, call: this.#prepared(outgoing, request) };
  }

  async close(): Promise<void> {
    await this.#wire.close();
  }

  #compose(outgoing: Outgoing, shape: Shape): Composed {
    try {
      return this.#api.compose(outgoing, shape);
    } catch (error) {
      return { ok: false, rule: `content: cannot be written (${errorCode(error)})` };
    }
  }

  #placed(request: WireRequest): WireRequest {
    return { ...request, path: `${this.#basePath}${request.path}` };
  }

  #prepared(outgoing: Outgoing, request: WireRequest): PreparedCall {
    const call: PreparedCall = {
      hash: wireHash(request),
      send: async (timeoutMs) => {
        const result = await this.#ask(request, timeoutMs);
        if (result.kind === 'lost') return lostOutcome(result);
        return this.#outcome(result.answer, this.#judge(result.answer, outgoing), outgoing);
      },
      batchable: fitsBatch(request, this.abilities),
    };
    if (this.prepareBatch !== undefined) this.#parts.set(call, { outgoing, request });
    return call;
  }

  #preparedBatch(batch: WiredBatch, calls: readonly PreparedCall[], key: string): PreparedBatch {
    const parts = calls.map((call) => this.#partsOf(call));
    const composed = batch.compose(
      parts.map(({ request }) => request),
      key,
    );
    const request = this.#placed(composed);
    return {
      hash: wireHash(request),
      send: async (timeoutMs) => {
        const result = await this.#ask(request, timeoutMs, MAX_ANSWER_BYTES + parts.length * MAX_ANSWER_BYTES_EACH);
        if (result.kind === 'lost') return parts.map(() => lostOutcome(result));
        const verdicts = judgeBatch(batch, result.answer, parts.length);
        return parts.map(({ outgoing }, index) => this.#outcome(result.answer, verdicts[index] ?? ambiguous, outgoing));
      },
    };
  }

  #partsOf(call: PreparedCall): Parts {
    const parts = this.#parts.get(call);
    if (parts) return parts;
    const message = `provider ${this.name}: a call in a batch that it has not prepared`;
    throw new ServiceError('foreign-call', message, { retryable: false });
  }

  async #ask(request: WireRequest, timeoutMs: number, maxBytes?: number): ReturnType<HttpWire['call']> {
    let credentials;
    try {
      credentials = await this.#api.credentials(request);
    } catch (error) {
      return {
        kind: 'lost',
        mayHaveLeft: false,
        code: errorCode(error),
        diagnostic: 'the request could not be signed',
      };
    }
    return await this.#wire.call({ ...request, headers: { ...request.headers, ...credentials } }, timeoutMs, maxBytes);
  }

  #outcome({ status }: Answer, { words = '', ...verdict }: Verdict, outgoing: Outgoing): CallOutcome {
    return { ...verdict, code: `http-${status}`, diagnostic: this.#scrubbed(words, addressesOf(outgoing)) };
  }

  #judge(answer: Answer, outgoing: Outgoing): Verdict {
    try {
      return this.#api.judge(answer, outgoing);
    } catch (error) {
      return unreadable(error);
    }
  }

  async #lookUp(lookup: WiredLookup, query: LookupQuery, timeoutMs: number): Promise<LookupOutcome> {
    const request = lookup.compose(query);
    if (request === null) return failed('cannot-ask', 'the provider cannot be asked without a recipient');
    const result = await this.#ask(this.#placed(request), timeoutMs);
    if (result.kind === 'lost') return failed(result.code, result.diagnostic);
    return readLookup(lookup, result.answer, query);
  }

  #scrubbed(words: string, addresses: readonly string[]): string {
    // Shorter ones are parts of ordinary words, such as the user name `api`.
    const secrets = this.#api.credential.filter((secret) => secret.length >= 4);
    const withoutSecrets = secrets.reduce((text, secret) => text.replaceAll(secret, '<secret>'), words);
    return scrubAddresses(withoutSecrets, addresses);
  }
}

function judgeBatch(batch: WiredBatch, answer: Answer, messages: number): readonly Verdict[] {
  try {
    const verdicts = batch.judge(answer, messages);
    if (verdicts.length === messages) return verdicts;
    return Array.from({ length: messages }, () => ({ ...ambiguous, words: 'the answer does not fit the messages' }));
  } catch (error) {
    return Array.from({ length: messages }, () => unreadable(error));
  }
}

/** An answer that trips its reader proves nothing, and `send` never throws. */
function unreadable(error: unknown): Verdict {
  return { kind: 'ambiguous', words: `the answer could not be read (${errorCode(error)})` };
}

function lostOutcome({ mayHaveLeft, code, diagnostic }: Extract<WireResult, { kind: 'lost' }>): CallOutcome {
  return { kind: mayHaveLeft ? 'ambiguous' : 'not-sent', code, diagnostic };
}

function readLookup(lookup: WiredLookup, answer: Answer, query: LookupQuery): LookupOutcome {
  const code = `http-${answer.status}`;
  let found;
  try {
    found = lookup.read(answer, query);
  } catch (error) {
    return failed(code, `the answer could not be read (${errorCode(error)})`);
  }
  if (found === undefined) return { ...failed(code, 'no answer to the question'), retryAfterMs: retryAfterMs(answer) };
  if (found === 'miss') return { kind: 'miss', code, diagnostic: 'not among what the provider shows' };
  return { ...found, code, diagnostic: `the provider shows it as ${found.state}` };
}

function failed(code: string, diagnostic: string): Extract<LookupOutcome, { kind: 'failed' }> {
  return { kind: 'failed', retryAfterMs: null, code, diagnostic };
}

/** The first 32 hex digits of a SHA-256: enough to tell accounts apart, and nothing of the credential comes back from it. */
export function accountOf(kind: string, baseUrl: string, credential: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, baseUrl, ...credential]))
    .digest('hex')
    .slice(0, 32);
}

function tooLarge(request: WireRequest, { limits }: Abilities): string | null {
  return wireBytes(request) > limits.maxBytes ? `size: larger than ${limits.maxBytes} bytes` : null;
}

/** Larger than its share, it might keep the others out. */
function fitsBatch(request: WireRequest, { batch }: Abilities): boolean {
  return batch.kind === 'per-message' && wireBytes(request) <= batch.maxBytes / batch.max;
}

function addressesOf(outgoing: Outgoing): string[] {
  if (outgoing.kind === 'http') return [];
  const { envelope, parts } = outgoing;
  const all = [envelope.to, envelope.from, parts.from.address, parts.replyTo?.address ?? ''];
  return all.filter((address) => address !== '');
}
