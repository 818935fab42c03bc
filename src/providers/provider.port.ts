import type { Abilities } from './abilities.ts';

export interface Mailbox {
  readonly name: string | null;
  /** In its form for sending. */
  readonly address: string;
}

/** What a mail is made of, for providers that build the message themselves. */
export interface MailParts {
  readonly from: Mailbox;
  readonly replyTo: Mailbox | null;
  readonly to: string;
  /** One line, not encoded. */
  readonly subject: string;
  readonly html: string | null;
  readonly text: string;
  /** Further headers, none of those that a provider sets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One mail to one recipient. */
export interface OutgoingMail {
  readonly kind: 'email';
  /** operationId: what the provider is asked to remember the mail by, and the idempotency key. */
  readonly reference: string;
  /** Bare addresses in their form for sending; `from` may be empty (bounces go nowhere). */
  readonly envelope: { readonly from: string; readonly to: string };
  readonly parts: MailParts;
  /** The whole message, lines ended by CRLF; the same bytes at every call. */
  readonly raw: () => Buffer;
  /** What a peer that delivers for us is told beside the mail. */
  readonly about: {
    readonly tenantId: string;
    readonly operationKey: string;
    readonly payloadHash: string;
    readonly class: 'marketing' | 'transactional';
    readonly campaignId: string | null;
  };
}

/** One call of an endpoint. */
export interface OutgoingHttp {
  readonly kind: 'http';
  readonly reference: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Begins with one slash; appended to the endpoint's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; `undefined` sends no body. */
  readonly body: unknown;
}

export type Outgoing = OutgoingMail | OutgoingHttp;

interface Said {
  /** Stable and low in variety, e.g. `smtp-550`, `http-429`, `timeout`, `ECONNREFUSED`. */
  readonly code: string;
  /** The provider's words: no addresses, no control characters, at most 500 characters. */
  readonly diagnostic: string;
}

/** What is known after one call. Only the last four leave open whether there is an effect. */
export type CallOutcome =
  /** The provider has taken the responsibility; `effectId` is its own id for what it did. */
  | ({ readonly kind: 'accepted'; readonly effectId: string | null; readonly result?: unknown } & Said)
  /** Certainly no effect, for a reason that has nothing to do with the operation. */
  | ({ readonly kind: 'not-sent' } & Said)
  /** Certainly no effect, try later; `retryAfterMs` where the provider says how much later. */
  | ({ readonly kind: 'throttled'; readonly retryAfterMs: number | null } & Said)
  /** Certainly no effect, and there never will be one. */
  | ({ readonly kind: 'rejected'; readonly what: 'message' | 'recipient' } & Said)
  /** Certainly no effect: the recipient is on the provider's own list. */
  | ({ readonly kind: 'suppressed' } & Said)
  /** Certainly no effect, and neither will any other call of this account have one until somebody repairs it. */
  | ({ readonly kind: 'account' } & Said)
  /** Effect or not: the answer got lost, or says neither. */
  | ({ readonly kind: 'ambiguous' } & Said)
  /** An earlier call with this key reached the provider; what became of that one is not said. */
  | ({ readonly kind: 'duplicate' } & Said)
  /** An earlier call with this key is still being worked on. */
  | ({ readonly kind: 'concurrent' } & Said)
  /** The provider knows the key with another content. */
  | ({ readonly kind: 'key-mismatch' } & Said);

/** One request, complete. Whoever holds it can make the call and tell what would be sent, but not change it. */
export interface PreparedCall {
  /** SHA-256 over all that the provider would see but credentials; 32 bytes. The same at every attempt. */
  readonly hash: Buffer;
  /**
   * One try: never repeated inside, never throws. After `timeoutMs` (from the call, waiting included) the outcome is final:
   * nothing happens later unless it is one of those that leave it open.
   */
  readonly send: (timeoutMs: number) => Promise<CallOutcome>;
  /** Whether it may be in a new batch (`prepareBatch`). Absent: it goes alone. */
  readonly batchable?: boolean;
}

/** Several messages in one request. What is promised of a PreparedCall is promised of it. */
export interface PreparedBatch {
  /** Of the one request, 32 bytes: the same for the same calls in the same order under the same key. */
  readonly hash: Buffer;
  /** One outcome per call, by index. */
  readonly send: (timeoutMs: number) => Promise<readonly CallOutcome[]>;
}

export type Prepared =
  | { readonly ok: true; readonly call: PreparedCall }
  /** This provider can never carry it out. `rule` names the field and what it breaks. */
  | { readonly ok: false; readonly rule: string };

/** What the provider is asked about an effect that may or may not be there. */
export interface LookupQuery {
  readonly reference: string;
  /** The recipient's address, for mails. */
  readonly recipient: string | null;
  readonly subject: string | null;
  /** The first try that may have had an effect began at this moment. */
  readonly since: Date;
}

export type LookupOutcome =
  /** It is there; `state` is what the provider says became of it. */
  | ({
      readonly kind: 'hit';
      readonly effectId: string | null;
      readonly state: 'accepted' | 'delivered' | 'bounced' | 'complained' | 'rejected';
    } & Said)
  /** The provider answered, and it is not among what it shows. That is no proof. */
  | ({ readonly kind: 'miss' } & Said)
  /** No answer that says anything. */
  | ({ readonly kind: 'failed'; readonly retryAfterMs: number | null } & Said);

/**
 * The settings of the configuration that shape the bytes (a stream, a path, a fixed header; never a secret). Those of the first
 * attempt are kept with the operation and given back at later ones: a changed configuration changes no operation.
 */
export type Shape = Readonly<Record<string, unknown>> | null;

export interface Provider {
  readonly name: string;
  readonly abilities: Abilities;
  /** Calls that may be in flight at once. */
  readonly concurrency: number;
  /** Fingerprint of endpoint and credential: a key is good for the account that it was first used with, and no other. */
  readonly account: string;
  /** What `prepare` uses for a first attempt. */
  readonly shape: Shape;
  /** Pure: same content and shape, same bytes. */
  prepare(outgoing: Outgoing, shape: Shape): Prepared;
  /**
   * Only where the provider can; `abilities.batch` says whether new batches are made, and of how many. Pure as well. `calls` are
   * of this provider's `prepare`. `key` covers the batch as a whole, where the provider has keys: a repetition is safe with the
   * same calls in the same order and with nothing else. A call of the batch that is made alone is under another key.
   */
  prepareBatch?(calls: readonly PreparedCall[], key: string): PreparedBatch;
  /** Only where `abilities.lookup` is not `none`. Never throws. */
  lookup?(query: LookupQuery, timeoutMs: number): Promise<LookupOutcome>;
  /** Bounded. Calls in flight end with what is known of them; later ones are `not-sent`. */
  close(): Promise<void>;
}
