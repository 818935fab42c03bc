import type { ConsumedType, DataOf } from '../../src/messaging/contracts/registry.ts';
import { writeEnvelope } from '../../src/messaging/envelope.ts';
import type { DeadLetterReason } from '../../src/messaging/dead-letter-reason.ts';
import type { TopicName } from '../../src/messaging/topics.ts';

/** A record as a producer would send it; a header of several values is there several times. */
export interface BadRecord {
  readonly name: string;
  readonly topic: TopicName;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string | Buffer | (string | Buffer)[]>>;
  readonly timestamp?: Date;
  readonly reason: DeadLetterReason;
  /** What the reason in words holds. */
  readonly detail: RegExp;
}

type Upserted = DataOf<'einmal.subscriber.upserted.v1'>;

const GOOD: Upserted = { subscriberId: 's', email: 'ada@example.org', status: 'confirmed', lists: [], attributes: {} };
const DAY_MS = 86_400_000;

interface Parts extends Partial<Omit<BadRecord, 'headers'>> {
  readonly type?: string;
  readonly data?: unknown;
  /** Over the usual ones; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | Buffer | (string | Buffer)[] | undefined>>;
}

let count = 0;

function bad(name: string, reason: DeadLetterReason, detail: RegExp, parts: Parts = {}): BadRecord {
  const { type = 'einmal.subscriber.upserted.v1', data = GOOD, topic = 'subscribers' } = parts;
  const written = writeEnvelope<ConsumedType>({
    type: 'einmal.subscriber.upserted.v1',
    id: `bad-${count++}`,
    source: '/peer',
    time: new Date(),
    tenantId: 'demo',
    data: GOOD,
  });
  const headers = { ...written.headers, ce_type: type, ...parts.headers };
  return {
    name,
    topic,
    reason,
    detail,
    key: parts.key === undefined ? Buffer.from(`demo/bad-${count}`) : parts.key,
    value: parts.value === undefined ? Buffer.from(JSON.stringify(data)) : parts.value,
    headers: Object.fromEntries(
      Object.entries(headers).filter(([, value]) => value !== undefined),
    ) as BadRecord['headers'],
    ...(parts.timestamp ? { timestamp: parts.timestamp } : {}),
  };
}

const nested = (depth: number) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`);
const jsonText = (text: string) => Buffer.from(JSON.stringify(GOOD).replace('"s"', text));

/** What peers send by mistake, each with the reason that its dead letter must give. */
export const badRecords = (): readonly BadRecord[] => [
  bad('not JSON', 'unparseable', /not JSON/, { value: Buffer.from('{"subscriberId": "s"') }),
  bad('binary', 'unparseable', /UTF-8/, { value: Buffer.from([0x89, 0xff, 0xfe, 1, 2]) }),
  bad('the framing of a schema registry', 'unparseable', /zero byte/, {
    value: Buffer.from([0, 0, 0, 0, 7, 123, 125]),
  }),
  bad('an empty value', 'unparseable', /empty/, { value: Buffer.alloc(0) }),
  bad('a member twice', 'unparseable', /twice/, { value: Buffer.from('{"subscriberId":"a","subscriberId":"b"}') }),
  bad('a missing member', 'wrong-schema', /email: is required/, { data: { ...GOOD, email: undefined } }),
  bad('a misspelt member', 'wrong-schema', /did you mean locale/, { data: { ...GOOD, local: 'de' } }),
  bad('a wrong type', 'wrong-schema', /lists: must be of type array/, { data: { ...GOOD, lists: 'news' } }),
  bad('null', 'wrong-schema', /must be of type object/, { data: null }),
  bad('an unknown type', 'unknown-type', /not a type/, { type: 'einmal.subscriber.renamed.v1' }),
  bad('a type that is only produced', 'unknown-type', /not a type/, { type: 'einmal.campaign.drafted.v1' }),
  bad('a type like a member of every object', 'unknown-type', /not a type/, { type: '__proto__' }),
  bad('the wrong topic', 'wrong-topic', /topic subscribers/, { topic: 'operations' }),
  bad('no tenant', 'missing-tenant', /tenantid/, { headers: { ce_tenantid: undefined } }),
  bad('an empty tenant', 'missing-tenant', /tenantid/, { headers: { ce_tenantid: '' } }),
  bad('an unknown tenant', 'unknown-tenant', /no such tenant/, { headers: { ce_tenantid: 'nobody' } }),
  bad('a tenant like a member of every object', 'unknown-tenant', /no such tenant/, {
    headers: { ce_tenantid: 'constructor' },
  }),
  bad('2 MB', 'too-large', /2\d{6} bytes, the limit is/, {
    data: { ...GOOD, attributes: { x: 'y'.repeat(2 * 1024 * 1024) } },
  }),
  bad('nesting of 1,000', 'too-deep', /deeper than 64/, { value: nested(1_000) }),
  bad('nesting of 400,000', 'too-deep', /deeper than 64/, { value: nested(400_000) }),
  bad('U+0000 in an id', 'wrong-schema', /subscriberId: must not hold/, { value: jsonText(String.raw`"a\u0000"`) }),
  bad('a lone surrogate in an id', 'wrong-schema', /subscriberId: must not hold/, {
    value: jsonText(String.raw`"a\ud800"`),
  }),
  bad('U+0000 in ce_id', 'not-cloudevent', /attribute id holds/, { headers: { ce_id: 'a\u0000' } }),
  bad('a line break in ce_source', 'not-cloudevent', /attribute source holds/, { headers: { ce_source: '/a\r\nb' } }),
  bad('a header that is not UTF-8', 'not-cloudevent', /attribute id is not text/, {
    headers: { ce_id: Buffer.from([0xff, 0xfe]) },
  }),
  bad('a tombstone', 'tombstone', /no value/, { value: null }),
  bad('no headers', 'not-cloudevent', /specversion is missing/, { headers: noHeaders() }),
  bad('another content type', 'unparseable', /content type/, { headers: { 'content-type': 'application/avro' } }),
  bad('a header twice with other values', 'duplicate-header', /ce_id appears twice/, {
    headers: { ce_id: ['one', 'two'] },
  }),
  bad('a time in the future', 'time-out-of-range', /in the future/, {
    headers: { ce_time: new Date(Date.now() + DAY_MS).toISOString() },
  }),
  bad('a time before 1970', 'time-out-of-range', /1970/, { headers: { ce_time: '1969-12-31T23:59:59Z' } }),
  bad('a time that is none', 'not-cloudevent', /RFC 3339/, { headers: { ce_time: 'yesterday' } }),
  bad('a record of a year ago', 'too-old-to-deduplicate', /older than the/, {
    timestamp: new Date(Date.now() - 365 * DAY_MS),
  }),
  bad('an address with CR LF', 'wrong-schema', /email: must not hold control/, {
    data: { ...GOOD, email: 'ada@example.org\r\nBcc: eve@example.org' },
  }),
  bad('a suppression of an address that is none', 'handler-refused', /invalid-address: email/, {
    topic: 'suppressions',
    type: 'einmal.suppression.requested.v1',
    data: { email: 'ada@localhost', scope: 'all', reason: 'manual' },
  }),
  bad('headers named like members of every object', 'unparseable', /not JSON/, {
    value: Buffer.from('{'),
    headers: { constructor: 'a', toString: 'b', ['__proto__']: 'c', 'x-nul\u0000': Buffer.from([0, 255]) },
  }),
];

function noHeaders(): Record<string, undefined> {
  const names = ['content-type', 'ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_time', 'ce_tenantid'];
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
