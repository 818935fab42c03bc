import type { DataSource } from 'typeorm';
import { inTransaction, type Transaction } from '../../database/in-transaction.ts';
import { classifyDatabaseError, sqlState } from '../../database/postgres-errors.ts';
import type { Logger } from '../../observability/logger.ts';
import { backoffMs } from '../../runtime/backoff.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import { reach } from '../../runtime/signal.ts';
import type { ChunkHandler, ChunkOutcome, RecordChunk } from '../kafka/record-chunk.ts';
import { appendToOutbox, type OutboxLimits } from '../outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../outbox/outbox-entry.ts';
import type { ConsumedEvent, HandlerRegistry } from './consumed-event.ts';
import { decodeRecord, type DecodedRecord, type DecodeRules, type RefusedRecord } from './decode-record.ts';
import type { InboxCounts, InboxObserver } from './inbox-observer.ts';
import { insertFresh } from './insert-fresh.ts';
import { writeDeadLetters, type DeadLetter } from './write-dead-letters.ts';

export interface InboxSettings {
  /** Names this consumer in the inbox's key: `einmal.<topic>`. */
  readonly consumer: string;
  readonly decode: DecodeRules;
  readonly retentionDays: number;
  readonly deadLetterTopic: string;
  readonly outbox: OutboxLimits;
}

type Decoded = DecodedRecord | RefusedRecord;

/** `refused`: the records themselves are at fault. A handler may throw anything, also nothing. */
type Tried = { readonly kind: 'committed' } | { readonly kind: 'refused'; readonly error: unknown };

/** Contention is over after a moment; a transaction that still loses after this many tries waits like an outage. */
const CONTENTION_TRIES = 5;
/** A record that stands alone and fails is tried once more before it is called poison. */
const POISON_TRIES = 2;
const WAIT = { baseMs: 250, capMs: 5_000, jitter: Math.random };

/**
 * The road of a chunk of one partition: decode, insert fresh, handle, append, commit; the offset follows when this
 * says `done`. What fails is halved until the record that fails stands alone and goes to the dead letters.
 */
export class InboxPipeline {
  #failures = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: HandlerRegistry,
    private readonly settings: InboxSettings,
    private readonly observer: InboxObserver,
    private readonly logger: Logger,
  ) {}

  readonly handleChunk: ChunkHandler = async (chunk) => {
    const records = chunk.records.map((record) => decodeRecord(record, this.settings.decode));
    try {
      await this.#settle(chunk, records, 0);
      this.#failures = 0;
      return { kind: 'done' };
    } catch (error) {
      return this.#wait(chunk, error);
    }
  };

  /** One transaction for all of them, or the same for each half. */
  async #settle(chunk: RecordChunk, records: readonly Decoded[], triesBefore: number): Promise<void> {
    const tried = await this.#tryTransaction(chunk, records, triesBefore);
    if (tried.kind === 'committed') return;
    const [only, ...others] = records;
    if (only && others.length === 0) {
      await this.#settleAlone(chunk, only, triesBefore + 1, tried.error);
      return;
    }
    const half = Math.ceil(records.length / 2);
    await this.#settle(chunk, records.slice(0, half), triesBefore + 1);
    await this.#settle(chunk, records.slice(half), triesBefore + 1);
  }

  async #settleAlone(chunk: RecordChunk, record: Decoded, tries: number, failure: unknown): Promise<void> {
    if (record.kind === 'refused') throw notWritten(failure);
    if (tries >= POISON_TRIES) {
      await this.#bury(chunk, record, tries, failure);
      return;
    }
    const again = await this.#tryTransaction(chunk, [record], tries);
    if (again.kind === 'refused') await this.#bury(chunk, record, tries + 1, again.error);
  }

  /** @param tries how often the handler was given the record */
  async #bury(chunk: RecordChunk, record: DecodedRecord, tries: number, failure: unknown): Promise<void> {
    const detail = describe(failure);
    this.logger.error('inbox.poison-record', { ...place(chunk, record), error: detail });
    const dead: RefusedRecord = {
      kind: 'refused',
      record: record.record,
      // A handler that says what is wrong with the content refuses it; anything else is a failure of ours.
      reason: failure instanceof ServiceError ? 'handler-refused' : 'handler-failed',
      detail,
      envelope: record.event,
    };
    const buried = await this.#tryTransaction(chunk, [dead], tries - 1, record);
    if (buried.kind === 'committed') return;
    // It may be its identity that the inbox cannot take; its place in the partition then tells a redelivery.
    const alone = await this.#tryTransaction(chunk, [dead], tries - 1);
    if (alone.kind === 'refused') throw notWritten(alone.error);
  }

  /** Throws when waiting helps. */
  async #tryTransaction(
    chunk: RecordChunk,
    records: readonly Decoded[],
    triesBefore: number,
    poison?: DecodedRecord,
  ): Promise<Tried> {
    for (let contended = 0; ; contended++) {
      try {
        const counts = await inTransaction(this.dataSource, 'inbox', (tx) =>
          this.#handle(tx, chunk, records, triesBefore, poison),
        );
        this.observer.settled(this.settings.consumer, counts);
        return { kind: 'committed' };
      } catch (error) {
        if (error instanceof ServiceError && error.retryable) throw error;
        const failure = classifyDatabaseError(error);
        if (failure === 'away' || (failure === 'contention' && contended >= CONTENTION_TRIES)) throw error;
        if (failure !== 'contention') return { kind: 'refused', error };
      }
    }
  }

  async #handle(
    tx: Transaction,
    chunk: RecordChunk,
    records: readonly Decoded[],
    triesBefore: number,
    poison?: DecodedRecord,
  ): Promise<InboxCounts> {
    const outbox: OutboxEntry[] = [];
    const decoded = records.filter((each) => each.kind === 'event');
    // A poison record keeps its identity in the inbox, so that its redelivery is a duplicate and not a second dead letter.
    const known = poison ? [poison] : decoded;
    const verdict = await insertFresh(tx, this.settings.consumer, this.settings.retentionDays, known);
    await reach('inbox.after-insert');

    // While its handler failed here, the new owner of the partition may have handled it.
    const settledElsewhere = poison !== undefined && verdict.duplicates.length > 0;
    const letters: DeadLetter[] = [
      ...(settledElsewhere ? [] : records)
        .filter((each) => each.kind === 'refused')
        .map((each) => ({ ...each, attempts: triesBefore + 1 })),
      ...verdict.conflicts.map((each) =>
        refusal(each, 'identity-conflict', 'ce_source and ce_id: taken by a message with other content'),
      ),
      ...verdict.tooOld.map((each) =>
        refusal(
          each,
          'too-old-to-deduplicate',
          `record time: older than the ${this.settings.retentionDays} days that the inbox remembers`,
        ),
      ),
    ];
    const written = await writeDeadLetters(tx, outbox, this.settings.consumer, this.settings.deadLetterTopic, letters);
    if (!poison)
      await this.#callHandlers(
        tx,
        outbox,
        verdict.fresh.map((each) => each.event),
      );
    await reach('inbox.after-handle');

    await appendToOutbox(tx, outbox, this.settings.outbox);
    // The assignment may be gone by now: its new owner will read these records, so nothing of ours may stay.
    if (chunk.signal.aborted)
      throw new ServiceError('assignment-lost', 'the partition is no longer ours', { retryable: true });
    return {
      fresh: poison ? 0 : verdict.fresh.length,
      duplicates: verdict.duplicates.length + letters.length - written.length,
      dead: written.map((letter) => letter.reason),
      appended: outbox.length,
    };
  }

  /** Runs of one type keep the order of the partition between types. */
  async #callHandlers(tx: Transaction, outbox: OutboxEntry[], events: readonly ConsumedEvent[]): Promise<void> {
    for (const run of runsOfOneType(events)) {
      const type = run[0]?.type ?? '';
      const handler = this.handlers.handlerOf(type);
      if (!handler) throw new ServiceError('no-handler', `no handler for ${type}`, { retryable: false });
      await handler({ events: run, tx, outbox });
    }
  }

  #wait(chunk: RecordChunk, error: unknown): ChunkOutcome {
    const reason = error instanceof ServiceError ? error.code : `database-${classifyDatabaseError(error)}`;
    const retryAfterMs = backoffMs(++this.#failures, WAIT);
    this.logger.warn('inbox.waiting', { topic: chunk.topic, partition: chunk.partition, reason, retryAfterMs });
    return { kind: 'wait', reason, retryAfterMs };
  }
}

function notWritten(cause: unknown): ServiceError {
  return new ServiceError('dead-letter-not-written', 'a dead letter could not be written', { retryable: true, cause });
}

function runsOfOneType(events: readonly ConsumedEvent[]): ConsumedEvent[][] {
  const runs: ConsumedEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last?.[0]?.type === event.type) last.push(event);
    else runs.push([event]);
  }
  return runs;
}

function refusal(each: DecodedRecord, reason: DeadLetter['reason'], detail: string): DeadLetter {
  return { record: each.record, reason, detail, attempts: 1, envelope: each.event };
}

function place(chunk: RecordChunk, each: Decoded): Record<string, unknown> {
  return { topic: chunk.topic, partition: chunk.partition, offset: each.record.offset.toString() };
}

/** The kind of an error, for a peer to read: codes and names only, since texts may quote what was in the message. */
function describe(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `the database refused it: SQLSTATE ${state}`;
  if (error instanceof ServiceError) return `${error.code}: ${error.message}`;
  return `the handler failed: ${error instanceof Error ? error.name : 'not an error'}`;
}
