import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { DeadLetterReason } from '../dead-letter-reason.ts';
import type { ConsumedRecord } from '../kafka/record-chunk.ts';
import { storeHeaders, type OutboxEntry, type OutboxHeader } from '../outbox/outbox-entry.ts';

export interface DeadLetter {
  readonly record: ConsumedRecord;
  readonly reason: DeadLetterReason;
  /** In words: names the field and the rule, never a value. */
  readonly detail: string;
  /** How often the record was tried before it was given up. */
  readonly attempts: number;
  readonly envelope?: {
    readonly tenantId: string;
    readonly source: string;
    readonly id: string;
    readonly type: string;
  };
}

const insert = loadStatement<
  Record<
    | 'tenants'
    | 'offsets'
    | 'record_times'
    | 'event_sources'
    | 'event_ids'
    | 'event_types'
    | 'reasons'
    | 'details'
    | 'attempts'
    | 'keys'
    | 'values'
    | 'headers',
    unknown[]
  > & { consumer: string; topic: string; partition: number },
  { readonly record_offset: string }
>(import.meta.url, 'insert-dead-letters.sql');

/**
 * Keeps records that cannot be handled, with their bytes, in the table, and adds the same to the outbox for the topic
 * of dead letters. A record that is there already (its offset was not committed) is not written or published again.
 *
 * @param letters all of one topic and partition
 * @returns those that were not there yet
 */
export async function writeDeadLetters(
  tx: Transaction,
  outbox: OutboxEntry[],
  consumer: string,
  deadLetterTopic: string,
  letters: readonly DeadLetter[],
): Promise<readonly DeadLetter[]> {
  const first = letters[0];
  if (!first) return [];
  const { topic, partition } = first.record;
  const written = await insert.run(tx, {
    consumer,
    topic,
    partition,
    tenants: letters.map((letter) => letter.envelope?.tenantId ?? null),
    offsets: letters.map((letter) => letter.record.offset.toString()),
    record_times: letters.map((letter) => letter.record.timestamp),
    event_sources: letters.map((letter) => letter.envelope?.source ?? null),
    event_ids: letters.map((letter) => letter.envelope?.id ?? null),
    event_types: letters.map((letter) => letter.envelope?.type ?? null),
    reasons: letters.map((letter) => letter.reason),
    details: letters.map((letter) => letter.detail),
    attempts: letters.map((letter) => letter.attempts),
    keys: letters.map((letter) => letter.record.key),
    values: letters.map((letter) => letter.record.value),
    headers: letters.map((letter) => JSON.stringify(storeHeaders(letter.record.headers))),
  });
  const offsets = new Set(written.map((row) => row.record_offset));
  const fresh = letters.filter((letter) => offsets.has(letter.record.offset.toString()));
  for (const letter of fresh) outbox.push(publication(letter, consumer, deadLetterTopic));
  return fresh;
}

/** Below `max.message.bytes` of the topic of dead letters. */
const MAX_PUBLISHED_BYTES = 15 * 1024 * 1024;

/** The record as it came; one that no topic would take is published without its bytes, which the table has. */
function publication(letter: DeadLetter, consumer: string, topic: string): OutboxEntry {
  const { key, value, headers } = letter.record;
  const about = deadLetterHeaders(letter, consumer);
  const bytes =
    (key?.length ?? 0) +
    (value?.length ?? 0) +
    headers.reduce((sum, [name, header]) => sum + name.length + header.length + 8, 0);
  return bytes < MAX_PUBLISHED_BYTES
    ? { topic, key, value, headers: [...headers, ...about], maxBytes: MAX_PUBLISHED_BYTES + 65_536 }
    : { topic, key: null, value: null, headers: [...about, ['einmal_dlt_bytes', 'only in the table of dead letters']] };
}

function deadLetterHeaders(letter: DeadLetter, consumer: string): OutboxHeader[] {
  const { record } = letter;
  return [
    ['einmal_dlt_reason', letter.reason],
    ['einmal_dlt_exception', letter.detail],
    ['einmal_dlt_topic', record.topic],
    ['einmal_dlt_partition', String(record.partition)],
    ['einmal_dlt_offset', record.offset.toString()],
    ['einmal_dlt_timestamp', record.timestamp.toISOString()],
    ['einmal_dlt_consumer', consumer],
    ['einmal_dlt_attempts', String(letter.attempts)],
  ];
}
