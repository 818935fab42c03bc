import { describe, expect, it } from 'vitest';

import type { DeadLetterReason } from '../dead-letter-reason.ts';
import { DEFAULT_ENVELOPE_LIMITS, readEnvelope } from './read-envelope.ts';
import type { EncodedRecord, EnvelopeReading } from './read-envelope.ts';

const NOW = new Date('2026-11-29T12:00:00Z');
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ORIGIN = '00-11111111111111111111111111111111-2222222222222222-00';

const ATTRIBUTES = {
  ce_specversion: '1.0',
  ce_id: 'e-1',
  ce_source: '/crm',
  ce_type: 'einmal.subscriber.deleted.v1',
  ce_tenantid: 'acme',
  ce_time: '2026-11-29T11:59:00Z',
};

type HeaderPairs = ReadonlyArray<readonly [string, string | Buffer]>;

function record(value: string | Buffer | null, headers: HeaderPairs): EncodedRecord {
  return {
    key: Buffer.from('{"json":"key"}'),
    value: typeof value === 'string' ? Buffer.from(value, 'utf8') : value,
    headers: headers.map(([name, text]) => [name, typeof text === 'string' ? Buffer.from(text, 'utf8') : text]),
  };
}

const read = (encoded: EncodedRecord, limits = DEFAULT_ENVELOPE_LIMITS): EnvelopeReading =>
  readEnvelope(encoded, limits, NOW);

const binary = (changes: Record<string, string | undefined> = {}, value: string | null = '{"a":1}'): EnvelopeReading =>
  read(
    record(
      value,
      Object.entries({ ...ATTRIBUTES, ...changes }).filter((pair): pair is [string, string] => pair[1] !== undefined),
    ),
  );

const EVENT = {
  specversion: '1.0',
  id: 'e-1',
  source: '/crm',
  type: 'einmal.subscriber.deleted.v1',
  tenantid: 'acme',
  time: '2026-11-29T11:59:00Z',
};

const structured = (event: unknown, contentType = 'application/cloudevents+json; charset=UTF-8'): EnvelopeReading =>
  read(record(JSON.stringify(event), [['content-type', contentType]]));

function refusalOf(reading: EnvelopeReading): [reason: DeadLetterReason | 'read', detail: string] {
  return reading.ok ? ['read', ''] : [reading.reason, reading.detail];
}

const envelope = {
  id: 'e-1',
  source: '/crm',
  type: 'einmal.subscriber.deleted.v1',
  tenantId: 'acme',
  time: new Date('2026-11-29T11:59:00Z'),
};

describe('readEnvelope, binary mode', () => {
  it('reads the attributes and the data', () => {
    expect(binary()).toEqual({ ok: true, envelope: { ...envelope, data: { a: 1 }, dataBytes: 7 } });
  });

  it('reads the optional attributes and ignores others', () => {
    const reading = binary({
      'Content-Type': 'Application/JSON; charset="UTF-8"',
      ce_subject: 'sub_7',
      ce_causationid: 'c-1',
      ce_dataschema: 'urn:x',
      ce_other: 'ignored',
      'x-other': 'ignored',
    });
    const more = { subject: 'sub_7', causationId: 'c-1', dataschema: 'urn:x' };
    expect(reading).toEqual({ ok: true, envelope: { ...envelope, ...more, data: { a: 1 }, dataBytes: 7 } });
  });

  it('does without a time', () => {
    const reading = binary({ ce_time: undefined });
    expect(reading.ok && 'time' in reading.envelope).toBe(false);
  });

  it.each([
    ['not-cloudevent', { ce_specversion: undefined }],
    ['not-cloudevent', { ce_specversion: '0.3' }],
    ['not-cloudevent', { ce_id: undefined }],
    ['not-cloudevent', { ce_source: '' }],
    ['not-cloudevent', { ce_type: undefined }],
    ['not-cloudevent', { ce_id: 'x'.repeat(513) }],
    ['not-cloudevent', { ce_id: 'a\nb' }],
    ['not-cloudevent', { ce_subject: 'a\u0000b' }],
    ['not-cloudevent', { ce_time: 'yesterday' }],
    ['missing-tenant', { ce_tenantid: undefined }],
    ['missing-tenant', { ce_tenantid: '' }],
    ['time-out-of-range', { ce_time: '2026-11-29T13:00:00.001Z' }],
    ['time-out-of-range', { ce_time: '0001-01-01T00:00:00Z' }],
    ['time-out-of-range', { ce_time: '2026-02-30T00:00:00Z' }],
    ['not-cloudevent', { 'content-type': 'application/cloudevents-batch+json' }],
    ['not-cloudevent', { 'content-type': 'application/cloudevents+avro' }],
    ['unparseable', { 'content-type': 'application/xml' }],
    ['unparseable', { 'content-type': 'application/json; charset=utf-16' }],
    ['unparseable', { ce_datacontenttype: 'text/plain' }],
  ] as const)('refuses as %s: %o', (reason, changes) => {
    expect(refusalOf(binary(changes))[0]).toBe(reason);
  });

  it('accepts times up to an hour ahead and any since 1970', () => {
    for (const time of ['2026-11-29T13:00:00Z', '2025-11-29T12:00:00Z', '1970-01-01T00:00:00Z']) {
      expect(binary({ ce_time: time }).ok).toBe(true);
    }
  });

  it('refuses a header that is not UTF-8', () => {
    const headers: HeaderPairs = [...Object.entries(ATTRIBUTES), ['ce_subject', Buffer.from([0xff])]];
    expect(refusalOf(read(record('{}', headers)))).toEqual([
      'not-cloudevent',
      'the attribute subject is not text in UTF-8',
    ]);
  });

  it('refuses a plain record', () => {
    expect(refusalOf(read(record('{}', [])))[0]).toBe('not-cloudevent');
  });

  it('refuses a tombstone, also with all headers', () => {
    expect(refusalOf(binary({}, null))[0]).toBe('tombstone');
    expect(refusalOf(read(record(null, [])))[0]).toBe('tombstone');
  });

  it('refuses what is too large before it looks at it', () => {
    const limits = { maxBytes: 7, maxDepth: 64 };
    const headers = Object.entries(ATTRIBUTES);
    expect(read(record('{"a":1}', headers), limits).ok).toBe(true);
    expect(refusalOf(read(record('{"a":12}', headers), limits))).toEqual([
      'too-large',
      'the value has 8 bytes, the limit is 7',
    ]);
    expect(refusalOf(read(record('x'.repeat(2_000_000), headers)))[0]).toBe('too-large');
  });

  it('refuses data that is nested too deep or not JSON', () => {
    expect(refusalOf(binary({}, '['.repeat(1000) + ']'.repeat(1000)))[0]).toBe('too-deep');
    expect(refusalOf(binary({}, 'not json'))[0]).toBe('unparseable');
  });

  it('counts a repeated header once when the bytes are the same, and refuses it when they differ', () => {
    const twice = (name: string, value: string): HeaderPairs => [...Object.entries(ATTRIBUTES), [name, value]];
    expect(read(record('{}', twice('ce_id', 'e-1'))).ok).toBe(true);
    expect(refusalOf(read(record('{}', twice('ce_id', 'e-2'))))).toEqual([
      'duplicate-header',
      'the header ce_id appears twice with different values',
    ]);
    const types: HeaderPairs = [
      ['content-type', 'application/json'],
      ['Content-Type', 'text/json'],
    ];
    expect(refusalOf(read(record('{}', [...Object.entries(ATTRIBUTES), ...types])))[0]).toBe('duplicate-header');
    const others: HeaderPairs = [['x', '1'], ['x', '2'], ...Object.entries(ATTRIBUTES)];
    expect(read(record('{}', others)).ok).toBe(true);
  });
});

const nested = (depth: number): string =>
  `{"specversion":"1.0","data":${'['.repeat(depth)}${']'.repeat(depth)},` +
  '"id":"e","source":"s","type":"t","tenantid":"a"}';

const ofDepth = (depth: number): EnvelopeReading =>
  read(record(nested(depth), [['content-type', 'application/cloudevents+json']]));

describe('readEnvelope, structured mode', () => {
  it('reads data and data_base64', () => {
    const plain = structured({ ...EVENT, subject: 's', causationid: 'c', data: { a: 1 } });
    expect(plain).toMatchObject({
      ok: true,
      envelope: { ...envelope, subject: 's', causationId: 'c', data: { a: 1 } },
    });
    const encoded = structured({ ...EVENT, data_base64: Buffer.from('{"a":1}').toString('base64') });
    expect(encoded).toEqual({ ok: true, envelope: { ...envelope, data: { a: 1 }, dataBytes: 7 } });
  });

  it('takes the content type in any case, and null for an absent attribute', () => {
    expect(structured({ ...EVENT, subject: null, data: {} }, 'APPLICATION/CloudEvents+JSON').ok).toBe(true);
  });

  it.each([
    ['not-cloudevent', []],
    ['not-cloudevent', 'text'],
    ['not-cloudevent', { ...EVENT, id: 7, data: {} }],
    ['not-cloudevent', { ...EVENT, specversion: undefined, data: {} }],
    ['missing-tenant', { ...EVENT, tenantid: undefined, data: {} }],
    ['time-out-of-range', { ...EVENT, time: '2027-11-29T12:00:00Z', data: {} }],
    ['not-cloudevent', { ...EVENT, data: {}, data_base64: 'e30=' }],
    ['not-cloudevent', { ...EVENT, data_base64: 'e30' }],
    ['not-cloudevent', { ...EVENT, data_base64: {} }],
    ['unparseable', { ...EVENT, data_base64: Buffer.from('no').toString('base64') }],
    ['unparseable', { ...EVENT, datacontenttype: 'application/xml', data: '<a/>' }],
  ] as const)('refuses as %s: %o', (reason, event) => {
    expect(refusalOf(structured(event))[0]).toBe(reason);
  });

  it('counts the depth of the data, not of the event around it', () => {
    expect(ofDepth(64).ok).toBe(true);
    expect(refusalOf(ofDepth(65))[0]).toBe('too-deep');
  });
});

describe('readEnvelope, trace context', () => {
  it('prefers the span that published over the one where the trace began', () => {
    const both = binary({ traceparent: TRACE, tracestate: 'a=1', ce_traceparent: ORIGIN });
    expect(both).toMatchObject({ envelope: { traceparent: TRACE, tracestate: 'a=1' } });
    expect(binary({ ce_traceparent: ORIGIN, ce_tracestate: 'b=2' })).toMatchObject({
      envelope: { traceparent: ORIGIN, tracestate: 'b=2' },
    });
    expect(structured({ ...EVENT, traceparent: ORIGIN, data: {} })).toMatchObject({
      envelope: { traceparent: ORIGIN },
    });
  });

  it('ignores one that is not valid, as W3C asks, and its state with it', () => {
    for (const traceparent of [
      'junk',
      TRACE.toUpperCase(),
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `ff${TRACE.slice(2)}`,
    ]) {
      const reading = binary({ traceparent, tracestate: 'a=1' });
      expect(reading.ok && ('traceparent' in reading.envelope || 'tracestate' in reading.envelope)).toBe(false);
      expect(reading.ok).toBe(true);
    }
  });
});
