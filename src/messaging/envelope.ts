/** CloudEvents 1.0 on Kafka: the front door to reading and writing. */
export { DEFAULT_ENVELOPE_LIMITS, readEnvelope } from './envelope/read-envelope.ts';
export type { EncodedRecord, Envelope, EnvelopeLimits, EnvelopeReading } from './envelope/read-envelope.ts';
export { MAX_FUTURE_MS } from './envelope/attributes.ts';
export { writeEnvelope } from './envelope/write-envelope.ts';
export type { OutgoingEvent, WrittenEnvelope } from './envelope/write-envelope.ts';
