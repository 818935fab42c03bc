/** Why a record was refused, with the words that the documentation and operators see. */
export const deadLetterReasons = {
  'not-cloudevent':
    'The record is not a CloudEvent 1.0 in binary or structured JSON mode, or one of its attributes breaks a rule.',
  unparseable:
    'The data is not strict JSON in UTF-8: broken syntax, a byte order mark, a repeated member name, or a number that would not survive.',
  tombstone: 'The record has no value. Deletions are events of their own.',
  'unknown-type': 'No contract consumes this `ce_type`.',
  'wrong-topic': 'The type is known, but it belongs on another topic, where order with its neighbours is kept.',
  'missing-tenant': 'The attribute `tenantid` is missing or empty.',
  'unknown-tenant': 'The tenant is not configured here.',
  'wrong-schema': 'The data breaks the contract of its type; the detail names each field and the rule.',
  'too-large': 'The value is larger than the limit.',
  'too-deep': 'The JSON is nested deeper than the limit.',
  'duplicate-header': 'A header that may appear once appears again with another value.',
  'identity-conflict': 'The same `ce_source` and `ce_id` came before with other content.',
  'too-old-to-deduplicate':
    'The record is older than the inbox remembers, so a repetition could not be told from a new message.',
  'time-out-of-range': '`ce_time` is before 1970 or further in the future than clocks may differ.',
  'handler-refused': 'The message was understood and refused by the handler for its content.',
  'refused-by-broker':
    'A message of ours that the broker will never take as it is, e.g. for its size. It is in the table only.',
  'handler-failed': 'The handler failed for this record alone, each time, for no reason that waiting would cure.',
} as const;

export type DeadLetterReason = keyof typeof deadLetterReasons;

/** Headers that a dead letter carries besides the original ones; all values are text in UTF-8. */
export const deadLetterHeaders = {
  reason: 'einmal_dlt_reason',
  exception: 'einmal_dlt_exception',
  topic: 'einmal_dlt_topic',
  partition: 'einmal_dlt_partition',
  offset: 'einmal_dlt_offset',
  timestamp: 'einmal_dlt_timestamp',
  consumer: 'einmal_dlt_consumer',
  attempts: 'einmal_dlt_attempts',
} as const;

/** A record that was read and refused. `detail` is a sentence without addresses and without values of the record. */
export interface Refusal {
  readonly ok: false;
  readonly reason: DeadLetterReason;
  readonly detail: string;
}

export function refusal(reason: DeadLetterReason, detail: string): Refusal {
  return { ok: false, reason, detail };
}
