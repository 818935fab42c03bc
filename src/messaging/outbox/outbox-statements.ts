import { loadStatement } from '../../database/statement.ts';
import type { StoredHeader, StoredMessage } from './outbox-entry.ts';

export interface OwnedBucket {
  readonly bucket: number;
  readonly fence: string;
}

export interface OutboxRow {
  readonly bucket: number;
  readonly outbox_id: string;
  readonly topic: string;
  readonly message_key: Buffer | null;
  readonly headers: readonly StoredHeader[];
  readonly message_value: Buffer | null;
  readonly on_suppressed: StoredMessage | null;
  /** Why the recipient is suppressed by now, if so. */
  readonly suppressed: string | null;
}

export const seedBuckets = loadStatement<{ buckets: number }, never>(import.meta.url, 'seed-buckets.sql');

export const leaseBuckets = loadStatement<{ relay: string; lease_seconds: number }, OwnedBucket>(
  import.meta.url,
  'lease-buckets.sql',
);

export const releaseBuckets = loadStatement<{ relay: string }, { bucket: number }>(
  import.meta.url,
  'release-buckets.sql',
);

export const readOutbox = loadStatement<
  {
    relay: string;
    buckets: readonly number[];
    fences: readonly string[];
    rows_per_bucket: number;
    bytes_per_bucket: number;
  },
  OutboxRow
>(import.meta.url, 'read-outbox.sql');

export const deletePublished = loadStatement<{ buckets: readonly number[]; ids: readonly string[] }, never>(
  import.meta.url,
  'delete-published.sql',
);

export const parkRefused = loadStatement<
  { bucket: number; outbox_id: string; detail: string },
  { dead_letter_id: string }
>(import.meta.url, 'park-refused.sql');
