import { deadLetterHeaders, deadLetterReasons } from '../dead-letter-reason.ts';
import type { JsonSchema } from './json-schema.ts';

/**
 * Headers of the CloudEvents Kafka binding in binary mode. They are in the schema format of AsyncAPI itself, in which
 * references may point into the document. The lengths are those of envelope/attributes.ts; a test holds both together.
 */

const SAFE = String.raw`^[^\p{Cc}\p{Cs}]*$`;
const TRACEPARENT = '^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$';

export type HeaderSchema = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

const required = (maxLength: number, description: string): JsonSchema => ({
  ...optional(maxLength, description),
  minLength: 1,
});

const optional = (maxLength: number, description: string): JsonSchema => ({
  type: 'string',
  maxLength,
  pattern: SAFE,
  description,
});

const traceparent = (description: string): JsonSchema => ({ type: 'string', pattern: TRACEPARENT, description });
const tracestate: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 512,
  description: 'Goes with traceparent, and means nothing without it.',
};

const attributes = {
  ce_specversion: { type: 'string', const: '1.0' },
  ce_id: required(512, 'With `ce_source` the identity of the message.'),
  ce_source: required(512, 'Who states it.'),
  ce_type: required(256, 'The name of the message.'),
  ce_tenantid: required(256, 'Whose message it is.'),
  ce_time: { type: 'string', format: 'date-time', maxLength: 64, description: 'When it happened; with an offset.' },
  ce_subject: optional(512, 'What it is about, for people.'),
  ce_causationid: optional(512, 'The `ce_id` of the message that led to this one.'),
  ce_traceparent: traceparent('W3C Trace Context: where the trace began.'),
  ce_tracestate: tracestate,
  traceparent: traceparent('W3C Trace Context: the span that published. One of another form is ignored.'),
  tracestate,
} as const satisfies Record<string, JsonSchema>;

const ALWAYS = ['ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_tenantid'] as const;

/** Of what peers publish and this service receives. */
export const receivedHeaders: HeaderSchema = {
  type: 'object',
  description: 'CloudEvents 1.0 in binary mode. Structured mode is read as well.',
  properties: {
    'content-type': { type: 'string', description: 'JSON in UTF-8; the default when absent.' },
    ...attributes,
    ce_dataschema: optional(2048, 'Kept, not looked at.'),
  },
  required: ALWAYS,
};

/** Of what this service sends. */
export const sentHeaders: HeaderSchema = {
  type: 'object',
  description: 'CloudEvents 1.0 in binary mode. Other headers may be added: ignore those that you do not know.',
  properties: { 'content-type': { type: 'string', const: 'application/json' }, ...attributes },
  required: ['content-type', 'ce_time', ...ALWAYS],
};

/** Of dead letters: besides the headers of the refused record. */
export const deadLetterHeaderSchema: HeaderSchema = {
  type: 'object',
  description: 'The headers of the refused record as they came, and these.',
  properties: {
    [deadLetterHeaders.reason]: { description: 'Why it was refused.', oneOf: reasonsOnTheTopic() },
    [deadLetterHeaders.exception]: { type: 'string', description: 'The rule or error in words, without values.' },
    [deadLetterHeaders.topic]: { type: 'string', description: 'Where it was read.' },
    [deadLetterHeaders.partition]: wholeNumber('The partition it was read from.'),
    [deadLetterHeaders.offset]: wholeNumber('Its offset there.'),
    [deadLetterHeaders.timestamp]: { type: 'string', format: 'date-time', description: 'The time of the record.' },
    [deadLetterHeaders.consumer]: { type: 'string', description: 'The consumer that refused it.' },
    [deadLetterHeaders.attempts]: wholeNumber('How often the handler was tried.'),
    einmal_dlt_bytes: {
      type: 'string',
      description: 'There when key, value and headers were too large for any topic and are in the table only.',
    },
  },
  required: Object.values(deadLetterHeaders),
};

function reasonsOnTheTopic(): readonly JsonSchema[] {
  const { 'refused-by-broker': _tableOnly, ...reasons } = deadLetterReasons;
  return Object.entries(reasons).map(([reason, words]) => ({ const: reason, description: words }));
}

function wholeNumber(description: string): JsonSchema {
  return { type: 'string', pattern: '^[0-9]+$', description };
}
