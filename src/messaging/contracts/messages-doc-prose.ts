import { OPERATION_NAMESPACE } from '../../operations/operation-id.ts';
import { DEFAULT_ENVELOPE_LIMITS, MAX_FUTURE_MS } from '../envelope.ts';

/** The parts of docs/messages.md that no contract holds. */

export const envelopeSection = `## Envelope

CloudEvents 1.0 with the Kafka binding. Einmal writes binary mode and reads binary mode and structured mode
(\`content-type: application/cloudevents+json\`, with \`data\` or \`data_base64\`). Data is JSON in UTF-8.

| binary header | structured member | required | what |
| --- | --- | --- | --- |
| \`content-type\` | \`datacontenttype\` | | \`application/json\`, the default |
| \`ce_specversion\` | \`specversion\` | yes | \`1.0\` |
| \`ce_id\` | \`id\` | yes | up to 512 characters; with \`source\` the identity of the message |
| \`ce_source\` | \`source\` | yes | up to 512 characters |
| \`ce_type\` | \`type\` | yes | one of the types below |
| \`ce_tenantid\` | \`tenantid\` | yes | whose message it is, up to 256 characters |
| \`ce_time\` | \`time\` | | RFC 3339 with offset, 1970 or later, at most ${MAX_FUTURE_MS / 60_000} minutes ahead of our clock |
| \`ce_subject\` | \`subject\` | | up to 512 characters |
| \`ce_causationid\` | \`causationid\` | | the \`id\` of the message that led to this one |
| \`ce_dataschema\` | \`dataschema\` | | kept, not looked at |
| \`traceparent\`, \`tracestate\` | the same as Kafka headers | | W3C Trace Context of the span that published |
| \`ce_traceparent\`, \`ce_tracestate\` | \`traceparent\`, \`tracestate\` | | where the trace began; used when the plain headers are absent |

- The identity of a message is (consumer, \`source\`, \`id\`). The same identity with the same type and data is a repetition and does nothing; with other data it is
  a dead letter \`identity-conflict\`. White space, the order of members and the mode of the envelope make no difference.
- The Kafka key is \`tenant/entity\` as given for each topic. It keeps order and is not read: the data says what a message is about.
  Partitioners differ: Java and kafkajs use murmur2, librdkafka needs \`partitioner=murmur2_random\`.
- A header may be repeated only with the same bytes. Attributes hold no control characters.`;

export const rulesSection = `## Rules for data

- A value has at most ${DEFAULT_ENVELOPE_LIMITS.maxBytes} bytes and is nested at most ${DEFAULT_ENVELOPE_LIMITS.maxDepth} deep (both configurable).
- Strict JSON: valid UTF-8, no byte order mark, no member name twice in one object, no number that would change by being read
  (\`1e400\`, \`-0\`, whole numbers beyond 2^53 that lose digits: send them as text).
- Members that a contract does not name are refused, with the nearest right name: a misspelt optional member would otherwise be lost
  unseen. New members come with a new version of this service before peers send them.
- Text that becomes a header, an identity or a name is refused with control characters or lone surrogates. Free content (HTML, text,
  attributes, reasons, diagnostics) may hold any character; U+0000 and lone surrogates, which PostgreSQL cannot store, are kept as the six
  characters \`\\u0000\` or \`\\ud800\`, and the row is flagged.
- Times are RFC 3339 with an offset, between 1970 and 9999, without leap seconds.
- Lengths are in UTF-16 code units. Sizes in bytes, and rules between members, are validated but have no form in the JSON Schema.
- Hashes are \`sha256:\` and 64 hex digits over the RFC 8785 form. An operation's payload hash covers \`{kind, request, class, approval}\`
  as received; a campaign's content hash covers the data of the revision without \`campaignId\` and \`revision\`. Absent members are absent. Lone surrogates, which
  RFC 8785 refuses, are hashed in their lower-case \`\\ud800\` escape.
- \`operationId\` is the UUIDv5 in the namespace \`${OPERATION_NAMESPACE}\` over the UTF-8 bytes of the JSON list \`["tenant","operationKey"]\` without white space.`;
