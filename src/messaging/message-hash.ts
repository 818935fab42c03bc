import { hash } from 'node:crypto';

import { canonicalJson } from '../runtime/canonical-json.ts';

/**
 * SHA-256 (32 bytes) over the canonical form of a message's type and data. White space, the order of members and the mode
 * of the envelope do not change it, so a peer that serialises anew is a duplicate and other content is a conflict.
 */
export function messageHash(type: string, data: unknown): Buffer {
  return hash('sha256', canonicalJson([type, data], 'escape'), 'buffer');
}
