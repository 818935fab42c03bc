import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Logger } from '../../observability/logger.ts';
import { monotonicNow } from '../../runtime/monotonic.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import { reach } from '../../runtime/signal.ts';
import { loadHeaders, loadMessage, type OutboxMessage } from './outbox-entry.ts';
import {
  deletePublished,
  leaseBuckets,
  parkRefused,
  readOutbox,
  releaseBuckets,
  type OutboxRow,
  type OwnedBucket,
} from './outbox-statements.ts';

/** What became of a produce batch, as the Kafka producer says it. */
export type PublishOutcome =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'unavailable'; readonly code: string }
  | { readonly kind: 'refused'; readonly code: string };

export interface Publisher {
  publish(batch: readonly OutboxMessage[]): Promise<PublishOutcome>;
}

export interface RelaySettings {
  readonly leaseSeconds: number;
  /** Rows of one produce batch. */
  readonly batchSize: number;
  /** A produce call that takes longer is given up; it must end well inside the lease. */
  readonly produceTimeoutMs: number;
}

/** Kept under the broker's default of 1 MiB for the records of one partition, headers included. */
const BATCH_BYTES = 700_000;
const ROWS_PER_BUCKET = 500;

export interface RelayObserver {
  published(count: number, suppressed: number): void;
}

/** Outbox to Kafka: lease buckets, read their heads in order, look at suppressions, publish, delete what was acknowledged. */
export class RelayPipeline {
  readonly relayId = randomUUID();
  #owned: readonly OwnedBucket[] = [];
  #leaseEndsAt = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly publisher: Publisher,
    private readonly settings: RelaySettings,
    private readonly observer: RelayObserver,
    private readonly logger: Logger,
  ) {}

  /** One sweep over the buckets of this relay. Throws when the broker or the database is away; nothing is counted. */
  readonly runOnce = async (signal: AbortSignal): Promise<'more' | 'idle'> => {
    await this.#leaseWhenDue();
    if (this.#owned.length === 0) return 'idle';
    const rows = await readOutbox.run(this.dataSource, {
      relay: this.relayId,
      buckets: this.#owned.map((each) => each.bucket),
      fences: this.#owned.map((each) => each.fence),
      rows_per_bucket: ROWS_PER_BUCKET,
      bytes_per_bucket: BATCH_BYTES,
    });
    for (const batch of batches(rows, this.settings.batchSize)) {
      if (signal.aborted || !this.#leaseCovers(this.settings.produceTimeoutMs)) return 'more';
      await this.#publish(batch);
    }
    return rows.length > 0 ? 'more' : 'idle';
  };

  async release(): Promise<void> {
    this.#owned = [];
    this.#leaseEndsAt = 0;
    await releaseBuckets.run(this.dataSource, { relay: this.relayId });
  }

  async #leaseWhenDue(): Promise<void> {
    const leaseMs = this.settings.leaseSeconds * 1000;
    if (this.#leaseCovers((leaseMs * 2) / 3)) return;
    // Counted from before the statement, so that our end is never later than the database's.
    const askedAt = monotonicNow();
    this.#owned = await leaseBuckets.run(this.dataSource, {
      relay: this.relayId,
      lease_seconds: this.settings.leaseSeconds,
    });
    this.#leaseEndsAt = askedAt + leaseMs;
  }

  #leaseCovers(ms: number): boolean {
    return monotonicNow() + ms < this.#leaseEndsAt;
  }

  async #publish(rows: readonly OutboxRow[]): Promise<void> {
    await reach('relay.before-publish');
    const outcome = await this.publisher.publish(rows.map(messageOf));
    await reach('relay.after-publish');
    switch (outcome.kind) {
      case 'acknowledged':
        await deletePublished.run(this.dataSource, {
          buckets: rows.map((row) => row.bucket),
          ids: rows.map((row) => row.outbox_id),
        });
        this.observer.published(rows.length, rows.filter((row) => row.suppressed !== null).length);
        return;
      case 'unavailable':
        throw new ServiceError('broker-away', `the broker did not take the batch: ${outcome.code}`, { retryable: true });
      case 'refused':
        await this.#publishOneByOne(rows, outcome.code);
    }
  }

  /** In order, so that those behind the refused one keep their place. */
  async #publishOneByOne(rows: readonly OutboxRow[], code: string): Promise<void> {
    const [only, ...others] = rows;
    if (only && others.length === 0) {
      this.logger.error('relay.refused', { topic: only.topic, outboxId: only.outbox_id, code });
      await parkRefused.run(this.dataSource, { bucket: only.bucket, outbox_id: only.outbox_id, detail: `the broker refused it: ${code}` });
      return;
    }
    for (const row of rows) await this.#publish([row]);
  }
}

function messageOf(row: OutboxRow): OutboxMessage {
  if (row.suppressed !== null && row.on_suppressed !== null) return loadMessage(row.on_suppressed);
  return { topic: row.topic, key: row.message_key, headers: loadHeaders(row.headers), value: row.message_value };
}

function* batches(rows: readonly OutboxRow[], batchSize: number): Generator<OutboxRow[]> {
  let batch: OutboxRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = (row.message_value?.length ?? 0) + 512;
    if (batch.length > 0 && (batch.length >= batchSize || bytes + size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
