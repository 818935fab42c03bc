import { loadStatement } from '../../database/statement.ts';
import type { Transaction } from '../../database/in-transaction.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import { bucketOf, storeHeaders, storeMessage, type OutboxEntry } from './outbox-entry.ts';

export interface OutboxLimits {
  readonly buckets: number;
  /** Largest message in bytes, key and headers included. Kafka's own default limit is 1 MiB for a batch. */
  readonly maxMessageBytes: number;
}

const insert = loadStatement<
  Record<
    | 'buckets'
    | 'topics'
    | 'keys'
    | 'headers'
    | 'values'
    | 'tenants'
    | 'recipient_keys'
    | 'recipient_classes'
    | 'recipient_lists'
    | 'on_suppressed',
    unknown[]
  >,
  never
>(import.meta.url, 'append-to-outbox.sql');

/**
 * Writes messages into the outbox, in order: the only way to emit one. Call it as the last statement of the
 * transaction, so that the ids of one key are drawn while the row of its entity is locked.
 *
 * @throws ServiceError `message-too-large` before anything is written
 */
export async function appendToOutbox(
  tx: Transaction,
  entries: readonly OutboxEntry[],
  limits: OutboxLimits,
): Promise<void> {
  if (entries.length === 0) return;
  for (const entry of entries) refuseTooLarge(entry, entry.maxBytes ?? limits.maxMessageBytes);
  await insert.run(tx, {
    buckets: entries.map((entry) => bucketOf(entry.key, limits.buckets)),
    topics: entries.map((entry) => entry.topic),
    keys: entries.map((entry) => entry.key),
    headers: entries.map((entry) => JSON.stringify(storeHeaders(entry.headers))),
    values: entries.map((entry) => entry.value),
    tenants: entries.map((entry) => entry.recipient?.tenantId ?? null),
    recipient_keys: entries.map((entry) => entry.recipient?.addressKey ?? null),
    recipient_classes: entries.map((entry) => entry.recipient?.class ?? null),
    recipient_lists: entries.map((entry) => JSON.stringify(entry.recipient?.lists ?? [])),
    on_suppressed: entries.map((entry) =>
      entry.recipient ? JSON.stringify(storeMessage(entry.recipient.instead)) : null,
    ),
  });
}

function refuseTooLarge(entry: OutboxEntry, maxMessageBytes: number): void {
  const headerBytes = entry.headers.reduce((sum, [name, value]) => sum + name.length + value.length + 8, 0);
  const bytes = (entry.key?.length ?? 0) + (entry.value?.length ?? 0) + headerBytes;
  if (bytes > maxMessageBytes) {
    throw new ServiceError(
      'message-too-large',
      `a message for ${entry.topic} has ${bytes} bytes, the limit is ${maxMessageBytes}`,
      {
        retryable: false,
      },
    );
  }
}
