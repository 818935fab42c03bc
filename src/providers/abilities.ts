/** What a provider can do to find out, or to keep harmless, a call whose outcome is not known. Times in ms. */
export interface Abilities {
  readonly key: KeyAbility;
  readonly lookup: LookupAbility;
  readonly receipt: ReceiptAbility;
  readonly batch: BatchAbility;
  readonly limits: {
    /** Largest request in bytes; what is larger is refused before the call. */
    readonly maxBytes: number;
  };
}

export type KeyAbility =
  | { readonly kind: 'none' }
  | {
      /** `replay` gives the first answer again; `reject-duplicate` says that the key was seen, and not what became of it. */
      readonly kind: 'replay' | 'reject-duplicate';
      /** How long the provider keeps a key, counted from the first byte of the first try. */
      readonly windowMs: number;
      /** Taken off the window for clocks and for the call itself. */
      readonly marginMs: number;
      /** Whether the same key with other bytes is refused. */
      readonly comparesPayload: boolean;
      /** What one key covers. */
      readonly scope: 'request' | 'recipient';
    };

export type LookupAbility =
  | { readonly kind: 'none' }
  | {
      /** By our reference, or by recipient and time with our reference compared in what comes back. */
      readonly kind: 'by-reference' | 'by-recipient';
      /** A miss before this age means nothing. */
      readonly minAgeMs: number;
      /**
       * What a miss may do at 4 × `minAgeMs`, while a later mail of the same account is visible: nothing, or let the
       * operation's own policy `resend` act now instead of when all waiting is over.
       */
      readonly miss: 'hold' | 'resend';
    };

export type ReceiptAbility =
  | { readonly kind: 'none' }
  | {
      /** Receipts carry our reference or the effect id, and the first of them proves acceptance. */
      readonly kind: 'proves-acceptance';
      /** How long before the first one is no longer expected. */
      readonly waitMs: number;
    };

export type BatchAbility =
  /** One message per call. */
  | { readonly kind: 'none' }
  | {
      /** The answer says of each message what became of it. */
      readonly kind: 'per-message';
      /** Messages that one call may carry, as configured: 2 or more. */
      readonly max: number;
      /** Of one call; a message that is larger than its share goes alone. */
      readonly maxBytes: number;
    };

/** What is wrong with abilities that were put together by hand: texts that name the field. Empty when they are consistent. */
export function inconsistencies({ key, lookup, receipt, batch, limits }: Abilities): string[] {
  const wrong: string[] = [];
  if (key.kind !== 'none') {
    if (!(key.windowMs > 0)) wrong.push('key.windowMs: a key needs a window');
    if (!(key.marginMs >= 0) || key.marginMs >= key.windowMs) wrong.push('key.marginMs: must be less than the window');
  }
  if (lookup.kind !== 'none' && !(lookup.minAgeMs > 0)) wrong.push('lookup.minAgeMs: a lookup needs a smallest age');
  if (receipt.kind !== 'none' && !(receipt.waitMs > 0)) wrong.push('receipt.waitMs: a receipt needs a time to wait');
  if (batch.kind !== 'none') {
    if (!Number.isInteger(batch.max) || batch.max < 2) wrong.push('batch.max: a batch has at least two messages');
    if (!(batch.maxBytes > 0)) wrong.push('batch.maxBytes: must be more than 0');
    // The key of a batch stands for all that is in it.
    if (key.kind !== 'none' && key.scope !== 'request') wrong.push('batch: the key covers one recipient only');
  }
  if (!(limits.maxBytes > 0)) wrong.push('limits.maxBytes: must be more than 0');
  return wrong;
}
