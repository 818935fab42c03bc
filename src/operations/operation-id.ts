import { hash } from 'node:crypto';

/** Never change it: every operation id ever given depends on it. */
export const OPERATION_NAMESPACE = '0e46372a-b249-464f-a726-638b605d04e2';

const namespaceBytes = Buffer.from(OPERATION_NAMESPACE.replaceAll('-', ''), 'hex');

/**
 * UUIDv5 (RFC 9562, section 5.5) in {@link OPERATION_NAMESPACE} over the UTF-8 bytes of the JSON list `["tenant","key"]`
 * without white space, as JSON.stringify writes it. A list, because with a plain separator ("a", "b:c") and ("a:b", "c")
 * would be one operation. The same input gives the same id for ever, in any language.
 */
export function operationId(tenantId: string, operationKey: string): string {
  return uuidOf(JSON.stringify([tenantId, operationKey]));
}

/**
 * What a provider knows one step of an operation by, and its idempotency key: the same rule over
 * `["operationId","step name",version]`.
 */
export function stepReference(id: string, name: string, version: number): string {
  return uuidOf(JSON.stringify([id, name, version]));
}

function uuidOf(text: string): string {
  const name = Buffer.from(text, 'utf8');
  const digest = hash('sha1', Buffer.concat([namespaceBytes, name]), 'buffer');
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
