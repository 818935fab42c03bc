import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ServiceError } from '../../runtime/service-error.ts';
import { DEFAULT_ENVELOPE_LIMITS, readEnvelope, writeEnvelope } from '../envelope.ts';
import type { OutgoingEvent, WrittenEnvelope } from '../envelope.ts';

const TIME = new Date('2026-11-29T12:00:00.123Z');
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const event: OutgoingEvent<'einmal.operation.cancel-requested.v1'> = {
  type: 'einmal.operation.cancel-requested.v1',
  id: 'e-1',
  source: '/einmal',
  time: TIME,
  tenantId: 'acme',
  data: { operationKey: 'order-17:confirmation', by: 'grace' },
};

const readBack = (written: WrittenEnvelope) =>
  readEnvelope(
    {
      key: Buffer.from(written.key, 'utf8'),
      value: written.value,
      headers: Object.entries(written.headers).map(([name, value]) => [name, Buffer.from(value, 'utf8')]),
    },
    DEFAULT_ENVELOPE_LIMITS,
    TIME,
  );

describe('writeEnvelope', () => {
  it('writes binary mode with tenant and entity as the key', () => {
    expect(writeEnvelope(event)).toEqual({
      key: 'acme/order-17:confirmation',
      value: Buffer.from('{"operationKey":"order-17:confirmation","by":"grace"}'),
      headers: {
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: 'e-1',
        ce_source: '/einmal',
        ce_type: 'einmal.operation.cancel-requested.v1',
        ce_time: '2026-11-29T12:00:00.123Z',
        ce_tenantid: 'acme',
      },
    });
  });

  it('writes trace context for Kafka and as the extension, and what it was caused by', () => {
    const { headers } = writeEnvelope({ ...event, causationId: 'c-1', traceparent: TRACE, tracestate: 'a=1' });
    expect(headers).toMatchObject({
      ce_causationid: 'c-1',
      traceparent: TRACE,
      tracestate: 'a=1',
      ce_traceparent: TRACE,
      ce_tracestate: 'a=1',
    });
  });

  it('escapes what must not stand in a header in the subject, and refuses it elsewhere', () => {
    const { headers } = writeEnvelope({ ...event, subject: 'a\r\nce_id: x\u0000\ud800😀' });
    expect(headers['ce_subject']).toBe('a%0D%0Ace_id: x%00%D800😀');
    for (const unsafe of [{ id: 'a\n' }, { source: '\u0000' }, { tenantId: 'a\rb' }, { causationId: '\ud800' }]) {
      expect(() => writeEnvelope({ ...event, ...unsafe })).toThrow(ServiceError);
    }
  });

  it('is read back as it was written, whatever the text', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text));
    const data = fc.record({
      operationKey: fc.string({ unit: 'binary', minLength: 1 }),
      by: name,
      reason: fc.string(),
    });
    fc.assert(
      fc.property(name, name, name, data, (id, source, subject, data) => {
        const reading = readBack(writeEnvelope({ ...event, id, source, subject, data }));
        expect(reading).toMatchObject({
          ok: true,
          envelope: { id, source, subject, type: event.type, tenantId: 'acme', time: TIME, data },
        });
      }),
    );
  });

  it('keeps any JSON in free attributes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (attributes) => {
        const reading = readBack(
          writeEnvelope({
            ...event,
            type: 'einmal.subscriber.upserted.v1',
            data: { subscriberId: 's', email: 'a@example.org', status: 'confirmed', lists: [], attributes },
          }),
        );
        const read = reading.ok ? (reading.envelope.data as { attributes: unknown }).attributes : reading;
        expect(read).toEqual(JSON.parse(JSON.stringify(attributes)));
      }),
    );
  });
});
