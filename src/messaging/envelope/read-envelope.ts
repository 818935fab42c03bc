import { isUtf8 } from 'node:buffer';

import { decodeBase64 } from '../base64.ts';
import { refusal } from '../dead-letter-reason.ts';
import type { Refusal } from '../dead-letter-reason.ts';
import { readAttributes, traceOf } from './attributes.ts';
import type { Attributes, AttributeSource } from './attributes.ts';
import { collectHeaders, headerText } from './headers.ts';
import type { RecordHeaders } from './headers.ts';
import { contentMode, isJson } from './media-type.ts';
import { parseJson } from './parse-json.ts';

/** A record as Kafka gives it. The key orders records and is not read: data alone says what a message is about. */
export interface EncodedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
}

export interface Envelope extends Omit<Attributes, 'datacontenttype'> {
  readonly data: unknown;
  /** Size of the data in bytes; of the whole event in structured mode with plain `data`. */
  readonly dataBytes: number;
}

export interface EnvelopeLimits {
  /** Of the record's value. */
  readonly maxBytes: number;
  /** Of the data, counted in objects and lists. */
  readonly maxDepth: number;
}

/** 1 MiB is what brokers take by default (`message.max.bytes`). */
export const DEFAULT_ENVELOPE_LIMITS: EnvelopeLimits = { maxBytes: 1024 * 1024, maxDepth: 64 };

export type EnvelopeReading = { readonly ok: true; readonly envelope: Envelope } | Refusal;

interface Headers {
  readonly attributes: ReadonlyMap<string, Buffer>;
  readonly plain: ReadonlyMap<string, Buffer>;
}

/**
 * Reads a CloudEvent in binary or structured mode with JSON data. Never throws: what is not readable comes back with its
 * reason. Whether tenant and type are known here, and whether the data fits its contract, is for the caller.
 * @param now the time that `ce_time` is compared with
 */
export function readEnvelope(record: EncodedRecord, limits: EnvelopeLimits, now: Date): EnvelopeReading {
  if (record.value === null) {
    return refusal('tombstone', 'the record has no value');
  }
  if (record.value.length > limits.maxBytes) {
    return refusal('too-large', `the value has ${record.value.length} bytes, the limit is ${limits.maxBytes}`);
  }
  const headers = collectHeaders(record.headers);
  if (!headers.ok) {
    return headers;
  }
  const mode = contentMode(headerText(headers.plain, 'content-type'));
  if (mode === 'unsupported') {
    return refusal('not-cloudevent', 'of the CloudEvents formats only application/cloudevents+json is read');
  }
  const read = mode === 'structured' ? readStructured : readBinary;
  return read(record.value, headers, limits, now);
}

function readBinary(value: Buffer, headers: Headers, limits: EnvelopeLimits, now: Date): EnvelopeReading {
  if (!headers.attributes.has('specversion')) {
    return refusal('not-cloudevent', 'the header ce_specversion is missing');
  }
  const reading = readAttributes(ofHeaders(headers.attributes), now);
  if (!reading.ok) {
    return reading;
  }
  if (!isJson(headerText(headers.plain, 'content-type') ?? reading.attributes.datacontenttype)) {
    return refusal('unparseable', 'the content type of the data is not JSON in UTF-8');
  }
  const parsed = parseJson(value, limits.maxDepth);
  return parsed.ok ? sealed(reading.attributes, headers, parsed.value, value.length) : parsed;
}

function readStructured(value: Buffer, headers: Headers, limits: EnvelopeLimits, now: Date): EnvelopeReading {
  // The event itself is one level around the data.
  const event = parseJson(value, limits.maxDepth + 1);
  if (!event.ok) {
    return event;
  }
  if (typeof event.value !== 'object' || event.value === null || Array.isArray(event.value)) {
    return refusal('not-cloudevent', 'a structured event is a JSON object');
  }
  const members = new Map<string, unknown>(Object.entries(event.value));
  const reading = readAttributes((name) => members.get(name), now);
  if (!reading.ok) {
    return reading;
  }
  if (!isJson(reading.attributes.datacontenttype)) {
    return refusal('unparseable', 'the content type of the data is not JSON in UTF-8');
  }
  const data = structuredData(members, value.length, limits);
  return data.ok ? sealed(reading.attributes, headers, data.value, data.bytes) : data;
}

type StructuredData = { readonly ok: true; readonly value: unknown; readonly bytes: number } | Refusal;

function structuredData(members: ReadonlyMap<string, unknown>, bytes: number, limits: EnvelopeLimits): StructuredData {
  const encoded = members.get('data_base64') ?? undefined;
  if (encoded === undefined) {
    return { ok: true, value: members.get('data') ?? null, bytes };
  }
  const decoded = typeof encoded === 'string' && !members.has('data') ? decodeBase64(encoded) : null;
  if (decoded === null) {
    return refusal('not-cloudevent', 'data_base64 is not base64, or there is data beside it');
  }
  const parsed = parseJson(decoded, limits.maxDepth);
  return parsed.ok ? { ok: true, value: parsed.value, bytes: decoded.length } : parsed;
}

/** The plain Kafka headers name the span that published the record; the extension only names where the trace began. */
function sealed(attributes: Attributes, headers: Headers, data: unknown, dataBytes: number): EnvelopeReading {
  const { datacontenttype: _read, traceparent, tracestate, ...kept } = attributes;
  const published = traceOf((name) => headerText(headers.plain, name));
  const origin = {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
  const trace = published.traceparent === undefined ? origin : published;
  return { ok: true, envelope: { ...kept, ...trace, data, dataBytes } };
}

/** A header that is not UTF-8 is handed on as bytes, which no attribute accepts. */
function ofHeaders(headers: ReadonlyMap<string, Buffer>): AttributeSource {
  return (name) => {
    const value = headers.get(name);
    return value !== undefined && isUtf8(value) ? value.toString('utf8') : value;
  };
}
