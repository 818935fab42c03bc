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
  PreparedCall,
  Provider,
  Shape,
} from './provider.port.ts';
import type { Found, Verdict } from './verdict.ts';
import { type Answer, retryAfterMs } from './wire/answer.ts';
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
  if (wrong.length > 0) {
    const message = `provider ${settings.providerName}: ${wrong.join('; ')}`;
    throw new ServiceError('inconsistent-abilities', message, { retryable: false });
  }
  return new WiredProvider(settings, api);
}

class WiredProvider implements Provider {
  readonly name: string;
  readonly abilities: Abilities;
  readonly concurrency: number;
  readonly account: string;
  readonly shape: Shape;
  readonly lookup?: (query: LookupQuery, timeoutMs: number) => Promise<LookupOutcome>;
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
    const { lookup } = api;
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
    return {
      hash: wireHash(request),
      send: async (timeoutMs) => {
        const result = await this.#ask(request, timeoutMs);
        if (result.kind === 'lost') {
          const { code, diagnostic, mayHaveLeft } = result;
          return { kind: mayHaveLeft ? 'ambiguous' : 'not-sent', code, diagnostic };
        }
        return this.#outcome(result.answer, outgoing);
      },
    };
  }

  async #ask(request: WireRequest, timeoutMs: number): ReturnType<HttpWire['call']> {
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
    return await this.#wire.call({ ...request, headers: { ...request.headers, ...credentials } }, timeoutMs);
  }

  #outcome(answer: Answer, outgoing: Outgoing): CallOutcome {
    const { words = '', ...verdict } = this.#judge(answer, outgoing);
    return { ...verdict, code: `http-${answer.status}`, diagnostic: this.#scrubbed(words, addressesOf(outgoing)) };
  }

  #judge(answer: Answer, outgoing: Outgoing): Verdict {
    try {
      return this.#api.judge(answer, outgoing);
    } catch (error) {
      // An answer that trips its reader proves nothing, and `send` never throws.
      return { kind: 'ambiguous', words: `the answer could not be read (${errorCode(error)})` };
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

function addressesOf(outgoing: Outgoing): string[] {
  if (outgoing.kind === 'http') return [];
  const { envelope, parts } = outgoing;
  const all = [envelope.to, envelope.from, parts.from.address, parts.replyTo?.address ?? ''];
  return all.filter((address) => address !== '');
}
