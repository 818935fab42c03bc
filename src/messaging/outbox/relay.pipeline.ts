import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Logger } from '../../observability/logger.ts';
import { monotonicNow } from '../../runtime/monotonic.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import { reach } from '../../runtime/signal.ts';
import type { PublishOutcome, RecordToPublish } from '../kafka/kafka-producer.ts';
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

/**
 * Publishes in order; the outcome counts the leading messages that the broker has stored. Never rejects. After `timeoutMs` it
 * has given up, and nothing of the batch is sent any more.
 */
export interface Publisher {
  publish(batch: readonly RecordToPublish[], timeoutMs: number): Promise<PublishOutcome>;
}

export interface RelaySettings {
  readonly leaseSeconds: number;
  /** Rows of one produce batch. */
  readonly batchSize: number;
  /** A produce call that takes longer is given up; it must end well inside the lease. */
  readonly produceTimeoutMs: number;
}

/** Bytes read of one bucket at a time; the producer cuts requests to what a broker takes. */
const BYTES_PER_BUCKET = 1_000_000;
const ROWS_PER_BUCKET = 500;

/** Refusals of one record for what it is; any other (a topic that is missing, a right that is not given) is waited out. */
const PERMANENT_REFUSALS: ReadonlySet<string> = new Set([
  'message-too-large',
  'record-list-too-large',
  'invalid-record',
  'invalid-timestamp',
]);

/** Buckets whose next message the broker refuses for now, with the reason; the others go on. */
type HeldBuckets = Map<number, ServiceError>;

/** Told of messages that were replaced since their recipient is suppressed, before they leave the outbox. */
export type OnReplaced = (messageKeys: readonly string[]) => Promise<void>;

export interface RelayObserver {
  published(rows: readonly OutboxRow[]): void;
}

/** Outbox to Kafka: lease buckets, read their heads in order, look at suppressions, publish, delete what was acknowledged. */
export class RelayPipeline {
  readonly relayId = randomUUID();
  #owned: readonly OwnedBucket[] = [];
  #leaseEndsAt = 0;
  #isBehind = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly publisher: Publisher,
    private readonly settings: RelaySettings,
    private readonly observer: RelayObserver,
    private readonly onReplaced: OnReplaced,
    private readonly logger: Logger,
  ) {}

  /** The last sweep found as much as one produce call takes: there is more, and nothing is gained by letting it gather. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** One sweep over the buckets of this relay. Throws when the broker or the database is away; nothing is counted. */
  readonly runOnce = async (signal: AbortSignal): Promise<'more' | 'idle'> => {
    await this.#leaseWhenDue();
    if (this.#owned.length === 0) return 'idle';
    const rows = await readOutbox.run(this.dataSource, {
      relay: this.relayId,
      buckets: this.#owned.map((each) => each.bucket),
      fences: this.#owned.map((each) => each.fence),
      rows_per_bucket: ROWS_PER_BUCKET,
      bytes_per_bucket: BYTES_PER_BUCKET,
    });
    this.#isBehind = rows.length >= this.settings.batchSize;
    const held: HeldBuckets = new Map();
    for (const batch of batches(rows, this.settings.batchSize)) {
      if (signal.aborted || !this.#mayPublish()) return 'more';
      await this.#publish(batch, held);
    }
    for (const error of held.values()) throw error;
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

  /** A call that may not end inside the lease is not begun: its buckets may be another's by then. */
  #mayPublish(): boolean {
    return this.#leaseCovers(this.settings.produceTimeoutMs);
  }

  #leaseCovers(ms: number): boolean {
    return monotonicNow() + ms < this.#leaseEndsAt;
  }

  async #publish(batch: readonly OutboxRow[], held: HeldBuckets): Promise<void> {
    const rows = batch.filter(({ bucket }) => !held.has(bucket));
    if (rows.length === 0) return;
    await reach('relay.before-publish');
    const outcome = await this.publisher.publish(rows.map(recordOf), this.settings.produceTimeoutMs);
    await reach('relay.after-publish');
    const acknowledged = outcome.kind === 'acknowledged' ? rows : rows.slice(0, outcome.acknowledged);
    await this.#deletePublished(acknowledged);
    if (outcome.kind === 'unavailable') {
      throw new ServiceError('broker-away', `the broker did not take the batch: ${outcome.code}`, { retryable: true });
    }
    if (outcome.kind === 'refused') await this.#passOver(rows.slice(outcome.acknowledged), outcome.code, held);
  }

  async #deletePublished(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    const replaced = rows.filter(({ suppressed }) => suppressed !== null);
    // When it fails they are published again: twice the same event, but never one that the ledger does not know of.
    if (replaced.length > 0) await this.onReplaced(replaced.map((row) => row.message_key?.toString('utf8') ?? ''));
    await deletePublished.run(this.dataSource, {
      buckets: rows.map((row) => row.bucket),
      ids: rows.map((row) => row.outbox_id),
    });
    this.observer.published(rows);
  }

  /** The first of them is the one that was refused: it is parked, or holds up its bucket; those behind it keep their order. */
  async #passOver([refused, ...rest]: readonly OutboxRow[], code: string, held: HeldBuckets): Promise<void> {
    if (!refused) return;
    if (PERMANENT_REFUSALS.has(code)) await this.#park(refused, code);
    else held.set(refused.bucket, brokerRefuses(refused.topic, code));
    if (rest.length > 0 && this.#mayPublish()) await this.#publish(rest, held);
  }

  async #park(refused: OutboxRow, code: string): Promise<void> {
    this.logger.error('relay.refused', { topic: refused.topic, outboxId: refused.outbox_id, code });
    await parkRefused.run(this.dataSource, {
      bucket: refused.bucket,
      outbox_id: refused.outbox_id,
      detail: `the broker refused it: ${code}`,
    });
  }
}

function brokerRefuses(topic: string, code: string): ServiceError {
  return new ServiceError('broker-refuses', `the broker refuses ${topic}: ${code}`, { retryable: true });
}

function recordOf(row: OutboxRow): RecordToPublish {
  const message: OutboxMessage =
    row.suppressed !== null && row.on_suppressed !== null
      ? loadMessage(row.on_suppressed)
      : { topic: row.topic, key: row.message_key, headers: loadHeaders(row.headers), value: row.message_value };
  // A dead letter has headers that a peer chose: `constructor` or `__proto__` must be names like any other.
  const headers = new Map<string, (string | Buffer)[]>();
  for (const [name, value] of message.headers) headers.set(name, [...(headers.get(name) ?? []), value]);
  return { topic: message.topic, key: message.key, value: message.value, headers: Object.fromEntries(headers) };
}

function* batches(rows: readonly OutboxRow[], batchSize: number): Generator<OutboxRow[]> {
  for (let start = 0; start < rows.length; start += batchSize) yield rows.slice(start, start + batchSize);
}
