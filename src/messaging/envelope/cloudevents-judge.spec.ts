import { CloudEvent, Kafka } from 'cloudevents';
import type { KafkaMessage, Message } from 'cloudevents';
import { describe, expect, it } from 'vitest';

import { DEFAULT_ENVELOPE_LIMITS, readEnvelope, writeEnvelope } from '../envelope.ts';

/** The `cloudevents` package, which shares no code with ours, reads what we write and writes what we read. */

const TIME = new Date('2026-11-29T12:00:00.000Z');
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const data = { operationKey: 'order 17: ü 😀', by: 'grace', reason: '"quoted"' };

const theirs = new CloudEvent({
  id: 'e-1',
  source: '/crm',
  type: 'einmal.operation.cancel-requested.v1',
  subject: 'order 17: ü 😀',
  time: TIME.toISOString(),
  datacontenttype: 'application/json',
  tenantid: 'acme',
  causationid: 'c-1',
  traceparent: TRACE,
  data,
});

/** kafkajs delivers header values as bytes. */
function read(message: Message<unknown>) {
  const value = typeof message.body === 'string' ? message.body : JSON.stringify(message.body);
  const headers = Object.entries(message.headers)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => [name, Buffer.from(String(text), 'utf8')] as const);
  return readEnvelope({ key: null, value: Buffer.from(value, 'utf8'), headers }, DEFAULT_ENVELOPE_LIMITS, TIME);
}

const expected = {
  id: 'e-1',
  source: '/crm',
  type: 'einmal.operation.cancel-requested.v1',
  subject: 'order 17: ü 😀',
  time: TIME,
  tenantId: 'acme',
  causationId: 'c-1',
  traceparent: TRACE,
  data,
};

describe('the cloudevents package', () => {
  it('writes binary mode that we read', () => {
    expect(read(Kafka.binary(theirs))).toMatchObject({ ok: true, envelope: expected });
  });

  it('writes structured mode that we read', () => {
    expect(read(Kafka.structured(theirs))).toMatchObject({ ok: true, envelope: expected });
  });

  it('reads what we write', () => {
    const written = writeEnvelope({
      type: 'einmal.operation.cancel-requested.v1',
      id: 'e-1',
      source: '/crm',
      subject: 'order 17: ü 😀',
      time: TIME,
      tenantId: 'acme',
      causationId: 'c-1',
      traceparent: TRACE,
      data,
    });
    // It throws on Buffer headers and keys, so it gets them decoded.
    const event = Kafka.toEvent({
      headers: written.headers,
      key: written.key,
      value: written.value.toString('utf8'),
    } as KafkaMessage);
    const read = event as CloudEvent<unknown>;
    expect(read.validate()).toBe(true);
    expect(read.toJSON()).toMatchObject({
      specversion: '1.0',
      id: 'e-1',
      source: '/crm',
      type: 'einmal.operation.cancel-requested.v1',
      subject: 'order 17: ü 😀',
      time: TIME.toISOString(),
      datacontenttype: 'application/json',
      tenantid: 'acme',
      causationid: 'c-1',
      traceparent: TRACE,
      data,
    });
  });
});
