import type { OperationState } from '../operation.states.ts';

/** The operation of a key, as whoever asked for it is told. */
export interface AskedOperation {
  readonly tenantId: string;
  readonly operationId: string;
  readonly operationKey: string;
  readonly state: OperationState;
  readonly reason: string | null;
  /** Of the request that has the key; 32 bytes. */
  readonly payloadHash: Buffer;
  readonly attempts: number;
  readonly effectId: string | null;
  /** When the request that has the key arrived; null: just now. */
  readonly firstSeenAt: Date | null;
}

/** What the ledger says to one request. */
export type RequestAnswer =
  /** It is new, and is queued or waits for its approval. */
  | { readonly kind: 'queued'; readonly operation: AskedOperation }
  /** It is new, and can never be carried out, or came after its deadline, or was cancelled before it came. */
  | { readonly kind: 'rejected' | 'expired' | 'cancelled'; readonly operation: AskedOperation }
  /** The same was asked for before. `refusedAtArrival`: that one was refused then, and so is this one. */
  | { readonly kind: 'duplicated'; readonly operation: AskedOperation; readonly refusedAtArrival: boolean }
  /** The ledger does not know the key, and once may have: whether it was carried out can no longer be told, so it is not. */
  | { readonly kind: 'too-old'; readonly operation: AskedOperation }
  /** The key belongs to another payload. `refused`: the hash of this one; `operation` is the one that has the key. */
  | { readonly kind: 'conflicted'; readonly operation: AskedOperation; readonly refused: Buffer };
