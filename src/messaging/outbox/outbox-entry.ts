import { crc32 } from 'node:zlib';

/** A header as Kafka has it: text, or bytes that are handed through unchanged. */
export type OutboxHeader = readonly [name: string, value: string | Buffer];

/** The person a message is about, when the publisher must ask the suppression list once more. */
export interface OutboxRecipient {
  readonly tenantId: string;
  readonly addressKey: string;
  readonly class: 'marketing' | 'transactional';
  readonly lists: readonly string[];
  /** Published instead when the recipient is suppressed by then. */
  readonly instead: OutboxMessage;
}

export interface OutboxMessage {
  /** Full topic name, prefix included. */
  readonly topic: string;
  readonly key: Buffer | null;
  readonly headers: readonly OutboxHeader[];
  /** `null` is a tombstone. */
  readonly value: Buffer | null;
}

export interface OutboxEntry extends OutboxMessage {
  /** Where the topic takes larger messages than the others. */
  readonly maxBytes?: number;
  readonly recipient?: OutboxRecipient;
}

/** Rows of one key always share a bucket, and a bucket has one publisher at a time: that is the order per key. */
export function bucketOf(key: Buffer | null, buckets: number): number {
  return key === null ? 0 : crc32(key) % buckets;
}

/** Header values as the table keeps them: `[name, text]`, or `[name, base64, 1]` for bytes that are not text. */
export type StoredHeader = readonly [string, string] | readonly [string, string, 1];

export function storeHeaders(headers: readonly OutboxHeader[]): StoredHeader[] {
  return headers.map(([name, value]) =>
    typeof value === 'string' ? [name, value] : [name, value.toString('base64'), 1],
  );
}

export function loadHeaders(stored: readonly StoredHeader[]): OutboxHeader[] {
  return stored.map(([name, value, encoding]) => [name, encoding === 1 ? Buffer.from(value, 'base64') : value]);
}

/** A whole message in one JSON value, for the message that replaces a suppressed one. */
export interface StoredMessage {
  readonly topic: string;
  readonly key: string | null;
  readonly headers: readonly StoredHeader[];
  readonly value: string | null;
}

export function storeMessage(message: OutboxMessage): StoredMessage {
  return {
    topic: message.topic,
    key: message.key?.toString('base64') ?? null,
    headers: storeHeaders(message.headers),
    value: message.value?.toString('base64') ?? null,
  };
}

export function loadMessage(stored: StoredMessage): OutboxMessage {
  return {
    topic: stored.topic,
    key: stored.key === null ? null : Buffer.from(stored.key, 'base64'),
    headers: loadHeaders(stored.headers),
    value: stored.value === null ? null : Buffer.from(stored.value, 'base64'),
  };
}
