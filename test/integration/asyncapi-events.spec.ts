import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { contractOf } from '../../src/messaging/contracts/registry.ts';
import { writeEnvelope } from '../../src/messaging/envelope.ts';
import { loadHeaders, type StoredHeader } from '../../src/messaging/outbox/outbox-entry.ts';
import { topicAddress } from '../../src/messaging/topics.ts';
import { badRecords } from '../support/bad-records.ts';
import { domainHandlers } from '../support/domain-handlers.ts';
import { eventually } from '../support/eventually.ts';
import { openMessagingRig, recordFrom, PREFIX, type MessagingRig } from '../support/messaging-rig.ts';
import { createPeer, type Peer } from '../support/peer.ts';
import { validateDeadLetter, validateEvent } from '../support/validate-event.ts';

const { example } = contractOf('einmal.operation.accepted.v1');

interface Written {
  readonly headers: Record<string, string>;
  readonly value: Buffer;
  readonly key: string;
}

const accepted = (): Written =>
  writeEnvelope({
    type: 'einmal.operation.accepted.v1',
    id: 'e-1',
    source: '/einmal',
    time: new Date(),
    tenantId: 'demo',
    causationId: 'c-1',
    data: example,
  });

const check = ({ headers, value, key }: Written, channel = 'events') => validateEvent(headers, value, { channel, key });
const withHeaders = (headers: Record<string, string>): Written => {
  const event = accepted();
  return { ...event, headers: { ...event.headers, ...headers } };
};
const withData = (data: object): Written => ({ ...accepted(), value: Buffer.from(JSON.stringify(data)) });
const without = (name: string): Written => {
  const { [name]: _left, ...headers } = accepted().headers;
  return { ...accepted(), headers };
};

describe('a message, judged by the AsyncAPI document alone', () => {
  it('is right as the service writes it', () => {
    expect(check(accepted())).toBeNull();
    expect(validateEvent(accepted().headers, accepted().value)).toBeNull();
  });

  it.each<[string, Written, RegExp]>([
    ['a type that nobody named', withHeaders({ ce_type: 'einmal.operation.lost.v1' }), /no such message/],
    ['the name of a member of every object', withHeaders({ ce_type: 'toString' }), /no such message/],
    ['no type', without('ce_type'), /no such message/],
    ['no tenant', without('ce_tenantid'), /headers must have required property 'ce_tenantid'/],
    ['no time', without('ce_time'), /required property 'ce_time'/],
    ['another version of CloudEvents', withHeaders({ ce_specversion: '0.3' }), /ce_specversion must be equal/],
    ['a time that is none', withHeaders({ ce_time: 'noon' }), /ce_time must match format/],
    ['a cause with a line break', withHeaders({ ce_causationid: 'a\nb' }), /ce_causationid must match pattern/],
    ['a trace that is none', withHeaders({ ce_traceparent: '00-0-0-00' }), /ce_traceparent must match pattern/],
    ['another content type', withHeaders({ 'content-type': 'text/plain' }), /content-type must be equal/],
    ['a state that there is not', withData({ ...example, state: 'sent' }), /data\/state must be equal/],
    ['a hash that is none', withData({ ...example, payloadHash: 'x' }), /data\/payloadHash must match pattern/],
    ['a member too many', withData({ ...example, email: 'x' }), /data must NOT have additional properties/],
    ['a member too few', withData({}), /required property 'operationKey'/],
    ['no JSON', { ...accepted(), value: Buffer.from('{') }, /data must be object/],
    ['a key without a tenant', { ...accepted(), key: 'x' }, /key must match pattern/],
  ])('is wrong with %s', (_what, event, flaw) => {
    expect(check(event)).toMatch(flaw);
  });

  it('is wrong on another channel, and without a value', () => {
    expect(check(accepted(), 'deliveries')).toMatch(/not a message of the channel deliveries/);
    expect(validateEvent(accepted().headers, null)).toMatch(/data must be object/);
  });

  it('is told without its values', () => {
    expect(check(withData({ ...example, state: 'ada@example.org' }))).not.toContain('ada');
  });
});

describe('a peer', () => {
  let peer: Peer | undefined;
  afterEach(async () => {
    await peer?.close();
  });

  it('sees which of the events that it reads are not as the document says', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}.`;
    await createTopic(topicAddress(prefix, 'events'));
    peer = await createPeer(inject('kafkaBrokers'), prefix);
    const { events } = peer;
    await peer.publishRaw('events', [accepted(), withData({ ...example, state: 'sent' }), without('ce_source')]);
    await peer.listen();
    await eventually('three events', 20_000, () => events.length === 3);
    expect(events.map(({ flaw }) => flaw)).toEqual([
      null,
      expect.stringMatching(/data\/state/),
      expect.stringMatching(/ce_source/),
    ]);
  });
});

describe('dead letters', () => {
  let rig: MessagingRig;
  beforeAll(async () => {
    rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
  });
  afterAll(async () => {
    await rig.close();
  });

  const published = async () =>
    (
      await rig.query<{ headers: readonly StoredHeader[]; message_value: Buffer | null }>(
        'SELECT headers, message_value FROM outbox WHERE topic = $1 ORDER BY outbox_id',
        [topicAddress(PREFIX, 'dead-letters')],
      )
    ).map((row) => ({ value: row.message_value, headers: textsOf(row.headers) }));

  it('carry the headers that the document says', async () => {
    const bad = badRecords();
    for (const [index, { topic, key, value }] of bad.entries()) {
      const headers = Object.entries(bad[index]?.headers ?? {}).flatMap(([name, given]) =>
        (Array.isArray(given) ? given : [given]).map((each) => [name, Buffer.from(each)] as const),
      );
      await rig.consumer(topic, domainHandlers()).take([recordFrom(topic, { key, value, headers })]);
    }
    const letters = await published();
    expect(letters.length).toBeGreaterThan(10);
    expect(letters.map(({ headers }) => validateDeadLetter(headers)).filter((flaw) => flaw !== null)).toEqual([]);
  });

  it('say so when the bytes are in the table only', async () => {
    const record = recordFrom('subscribers', { value: Buffer.alloc(15 * 1024 * 1024) });
    await rig.consumer('subscribers', domainHandlers()).take([record]);
    const letter = (await published()).at(-1);
    expect(letter).toMatchObject({ value: null, headers: { einmal_dlt_bytes: 'only in the table of dead letters' } });
    expect(validateDeadLetter(letter?.headers ?? {})).toBeNull();
  });

  it('are wrong without a reason, or with one that there is not', () => {
    const { einmal_dlt_reason: reason = '', ...rest } = exampleHeaders();
    expect(validateDeadLetter({ ...rest, einmal_dlt_reason: reason })).toBeNull();
    expect(validateDeadLetter(rest)).toMatch(/einmal_dlt_reason/);
    expect(validateDeadLetter({ ...rest, einmal_dlt_reason: 'no-mood' })).toMatch(/einmal_dlt_reason/);
  });
});

function exampleHeaders(): Record<string, string> {
  return {
    einmal_dlt_reason: 'tombstone',
    einmal_dlt_exception: 'the record has no value',
    einmal_dlt_topic: 'einmal.subscribers.v1',
    einmal_dlt_partition: '0',
    einmal_dlt_offset: '1',
    einmal_dlt_timestamp: '2026-12-01T08:00:07.000Z',
    einmal_dlt_consumer: 'einmal.subscribers',
    einmal_dlt_attempts: '1',
  };
}

function textsOf(stored: readonly StoredHeader[]): Record<string, string> {
  return Object.fromEntries(loadHeaders(stored).map(([name, value]) => [name, value.toString()]));
}

async function createTopic(topic: string): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: inject('kafkaBrokers').split(','), logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 1, replicationFactor: 1 }] });
  await admin.disconnect();
}
