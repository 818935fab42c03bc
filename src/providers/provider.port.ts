/** One finished mail to one recipient. */
export interface OutgoingMail {
  /** operationId: what the provider is asked to remember the mail by. */
  readonly reference: string;
  /** Bare addresses in their form for sending; `from` may be empty (bounces go nowhere). */
  readonly envelope: { readonly from: string; readonly to: string };
  /** The whole message, lines ended by CRLF. */
  readonly raw: Buffer;
}

interface Said {
  /** Stable and low in variety, e.g. `smtp-550`, `timeout`, `ECONNREFUSED`. */
  readonly code: string;
  /** The provider's words: no addresses, no control characters, at most 500 characters. */
  readonly diagnostic: string;
}

/** What is known after one call. Only `ambiguous` leaves open whether the mail goes out. */
export type DeliveryResult =
  /** The provider has taken the responsibility; `effectId` is its own id for the mail. */
  | ({ readonly kind: 'accepted'; readonly effectId: string | null } & Said)
  /** Certainly not accepted, for a reason that has nothing to do with the mail. */
  | ({ readonly kind: 'not-sent' } & Said)
  /** Certainly not accepted, try later; `retryAfterMs` where the provider says how much later. */
  | ({ readonly kind: 'throttled'; readonly retryAfterMs: number | null } & Said)
  /** Certainly not accepted, and never will be. */
  | ({ readonly kind: 'rejected'; readonly what: 'message' | 'recipient' } & Said)
  /** Certainly not accepted, and neither will any other mail of this account until somebody repairs it. */
  | ({ readonly kind: 'account' } & Said)
  /** Accepted or not: the answer got lost. */
  | ({ readonly kind: 'ambiguous' } & Said);

export interface MailProvider {
  readonly name: string;
  /** Deliveries that may be in flight at once. */
  readonly concurrency: number;
  /**
   * One try: never repeated inside, never throws. After `timeoutMs` (from the call, waiting included) the result is
   * final: nothing of the mail goes out later unless the result is `ambiguous`.
   */
  deliver(mail: OutgoingMail, timeoutMs: number): Promise<DeliveryResult>;
  /** Bounded. Later deliveries are `not-sent`. */
  close(): Promise<void>;
}
