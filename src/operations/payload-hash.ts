import { hash } from 'node:crypto';

import { canonicalJson } from '../runtime/canonical-json.ts';

/** Version of what the hashes below cover; stored beside a hash, so that a later rule does not read as a conflict. */
export const HASH_VERSION = 1;

/** What an operation means. Transport data, priority and times are no part of it. */
export interface HashedOperation {
  readonly kind: string;
  readonly request: unknown;
  readonly class?: string | undefined;
  readonly approval?: Readonly<{ object: string; revision: number }> | undefined;
}

/** The `data` of a submitted revision; `campaignId` and `revision` name it and are not its content. */
export interface HashedRevision {
  readonly campaignId: string;
  readonly revision: number;
}

/**
 * `sha256:` and 64 hex digits over the RFC 8785 form of `{kind, request, class, approval}` as received; members that are
 * absent stay absent, and no default is filled in.
 */
export function payloadHash(operation: HashedOperation): string {
  const { kind, request, class: operationClass, approval } = operation;
  return sha256({ kind, request, class: operationClass, approval });
}

/** `sha256:` and 64 hex digits over the RFC 8785 form of a revision without `campaignId` and `revision`. */
export function campaignContentHash(data: HashedRevision): string {
  return sha256({ ...data, campaignId: undefined, revision: undefined });
}

function sha256(value: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(value, 'escape'), 'hex')}`;
}
