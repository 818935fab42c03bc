import { createHash } from 'node:crypto';

export interface MailIdentity {
  /** With angle brackets. */
  readonly messageId: string;
  /** 32 hex digits. */
  readonly boundarySeed: string;
}

/**
 * What makes each attempt of one operation the same mail: receivers that drop a second copy do it by Message-ID.
 *
 * @param operationId UUID of the operation.
 * @param senderDomain Domain that the sender owns, in A-labels (RFC 5322 3.6.4 wants the id to be unique in it).
 */
export function mailIdentity(operationId: string, senderDomain: string): MailIdentity {
  const boundarySeed = createHash('sha256').update(`boundary:${operationId}`, 'utf8').digest('hex').slice(0, 32);
  return { messageId: `<${operationId}@${senderDomain}>`, boundarySeed };
}
