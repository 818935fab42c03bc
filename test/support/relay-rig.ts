import type { DataSource } from 'typeorm';
import { inTransaction } from '../../src/database/in-transaction.ts';
import type { PublishOutcome, RecordToPublish } from '../../src/messaging/kafka/kafka-producer.ts';
import { appendToOutbox } from '../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../src/messaging/outbox/outbox-entry.ts';
import { seedBuckets } from '../../src/messaging/outbox/outbox-statements.ts';
import {
  RelayPipeline,
  type OnReplaced,
  type Publisher,
  type RelaySettings,
} from '../../src/messaging/outbox/relay.pipeline.ts';
import { silentLogger } from '../../src/observability/logger.ts';

/** What one publish does: how many leading records the broker stores, and what it says of them. */
export interface Answer {
  readonly stored: number;
  readonly outcome: PublishOutcome;
}

/** A broker that keeps what it stores and fails where it is told to. */
export class FakeBroker implements Publisher {
  readonly stored: RecordToPublish[] = [];
  readonly batches: (readonly RecordToPublish[])[] = [];
  /** Taken one by one; with none left, everything is stored and acknowledged. */
  answers: ((batch: readonly RecordToPublish[]) => Answer | Promise<Answer>)[] = [];

  async publish(batch: readonly RecordToPublish[]): Promise<PublishOutcome> {
    this.batches.push(batch);
    const answer = await this.answers.shift()?.(batch);
    this.stored.push(...batch.slice(0, answer?.stored ?? batch.length));
    return answer?.outcome ?? { kind: 'acknowledged' };
  }

  ids(): string[] {
    return this.stored.map(idOf);
  }
}

export const AWAY = { kind: 'unavailable', code: 'ECONNREFUSED', retryable: true } as const;
export const broken =
  (acknowledged: number, stored = acknowledged) =>
  (): Answer => ({
    stored,
    outcome: { ...AWAY, acknowledged },
  });
export const refuses =
  (id: string, code: string) =>
  (batch: readonly RecordToPublish[]): Answer => {
    const at = batch.findIndex((record) => idOf(record) === id);
    return at < 0
      ? { stored: batch.length, outcome: { kind: 'acknowledged' } }
      : { stored: at, outcome: { kind: 'refused', code, acknowledged: at } };
  };

export function idOf(record: RecordToPublish): string {
  return String(record.headers['ce_id']);
}

const SETTINGS: RelaySettings = { leaseSeconds: 30, batchSize: 500, produceTimeoutMs: 5_000 };

export function relayOf(
  dataSource: DataSource,
  publisher: Publisher,
  settings: Partial<RelaySettings> = {},
  onReplaced: OnReplaced = () => Promise.resolve(),
): RelayPipeline {
  return new RelayPipeline(
    dataSource,
    publisher,
    { ...SETTINGS, ...settings },
    { published: () => undefined },
    onReplaced,
    silentLogger,
  );
}

/** Sweeps until the relay is idle, also after failures; the number of sweeps that failed. */
export async function drain(relay: RelayPipeline, most = 1_000): Promise<number> {
  let failures = 0;
  for (let sweep = 0; sweep < most; sweep++) {
    try {
      if ((await relay.runOnce(new AbortController().signal)) === 'idle') return failures;
    } catch {
      failures += 1;
    }
  }
  throw new Error(`the outbox was not empty after ${most} sweeps`);
}

export function entryOf(id: string, key: string | null, parts: Partial<OutboxEntry> = {}): OutboxEntry {
  return {
    topic: 'rig.events.v1',
    key: key === null ? null : Buffer.from(key),
    headers: [['ce_id', id]],
    value: Buffer.from(id),
    ...parts,
  };
}

export async function append(dataSource: DataSource, entries: readonly OutboxEntry[], buckets = 16): Promise<void> {
  await inTransaction(dataSource, 'append', async (tx) => {
    await appendToOutbox(tx, entries, { buckets, maxMessageBytes: 900_000 });
  });
}

/** An empty outbox with unowned buckets. */
export async function resetOutbox(dataSource: DataSource, buckets = 16): Promise<void> {
  await dataSource.query('TRUNCATE outbox, outbox_buckets, outbox_relays, dead_letters, suppressions');
  await seedBuckets.run(dataSource, { buckets });
}
