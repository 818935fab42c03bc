import kafkajs, { type Producer } from 'kafkajs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { sample } from 'fast-check';
import { jsonSchemaOf } from '../../src/messaging/contracts/json-schema.ts';
import {
  contracts,
  contractsOfTopic,
  validate,
  type ConsumedContract,
} from '../../src/messaging/contracts/registry.ts';
import { writeEnvelope } from '../../src/messaging/envelope.ts';
import { CONSUMED_TOPIC_NAMES, topicAddress, type TopicName } from '../../src/messaging/topics.ts';
import { seededDraws, type Draws } from '../journeys/seeded.ts';
import { pollUntil } from '../support/stack/poll-until.ts';
import { FuzzCounter, type FuzzPart } from './fuzz-report.ts';
import { bytesOf, mutate } from './mutations.ts';
import { arbitraryOf } from './schema-arbitrary.ts';

export interface RecordsPlan {
  readonly kafkaBrokers: string;
  readonly topicPrefix: string;
  readonly partitions: number;
  readonly count: number;
  readonly seed: number;
  query<R>(sql: string, values?: readonly unknown[]): Promise<R[]>;
}

interface RecordCase {
  readonly id: string;
  readonly name: string;
  readonly topic: TopicName;
  readonly type: string;
  readonly value: Buffer;
  readonly expect: 'take' | 'refuse' | 'either';
  /** What shows that it took effect, and is true of no other record. */
  readonly effect: Effect | null;
  readonly partition?: number;
}

interface Effect {
  readonly sql: string;
  readonly value: string;
}

/** The longest silence: nothing is handled any more, so a partition stalls. */
const STALLED_AFTER_MS = 30_000;
const BATCH = 500;
const BATCH_BYTES = 700_000;

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** Records of every type that is consumed: good ones, each mutated, and a good one at the end of each partition. */
export async function fuzzRecords(plan: RecordsPlan): Promise<FuzzPart> {
  const counter = new FuzzCounter();
  const cases = [...casesOf(plan), ...lastOfPartitions(plan)];
  await publish(plan, cases);
  if (!(await allHandled(plan, cases)))
    counter.fail('all', 'a partition stalls: some records are neither handled nor dead');
  await judge(plan, cases, counter);
  return counter.part();
}

function casesOf({ count, seed }: RecordsPlan): RecordCase[] {
  const draws = seededDraws(seed);
  const types = [...contracts.values()].filter(({ topic }) => CONSUMED_TOPIC_NAMES.some((name) => name === topic));
  const pools = new Map(
    types.map((contract) => [contract.type, goodData(contract, Math.ceil(count / types.length / 2) + 1, seed)]),
  );
  return Array.from({ length: count }, (_, nth) => {
    const contract = types[nth % types.length];
    const good = contract && pools.get(contract.type)?.[Math.floor(nth / types.length / 2)];
    if (!contract || good === undefined) throw new Error('too few good records');
    const id = `fuzz-${seed}-${nth}`;
    const isGood = Math.floor(nth / types.length) % 2 === 0;
    return caseOf(contract as ConsumedContract, withOwnId(contract.type, good, id), id, isGood, draws);
  });
}

function goodData(contract: { readonly type: string }, count: number, seed: number): object[] {
  const known = contracts.get(contract.type);
  if (!known) throw new Error(`no contract ${contract.type}`);
  const isGood = (value: unknown): boolean => typeof value === 'object' && value !== null && validate(known, value).ok;
  const good = sample(arbitraryOf(jsonSchemaOf(known)).filter(isGood), { seed, numRuns: count });
  return good.map((value) => structuredClone<object>(Object(value)));
}

function caseOf(contract: ConsumedContract, data: object, id: string, isGood: boolean, draws: Draws): RecordCase {
  const { type, topic } = contract;
  const common = { id, topic, type };
  if (isGood)
    return { ...common, name: `${id}: good ${type}`, value: bytesOf(data), expect: 'take', effect: effectOf(type, id) };
  const { name, bytes, expect, value } = mutate(data, draws);
  const bad = expect === 'refuse' || !schemaOf(contract)(value);
  return { ...common, name: `${id}: ${type} ${name}`, value: bytes, expect: bad ? 'refuse' : 'either', effect: null };
}

const validators = new Map<string, ValidateFunction>();

function schemaOf(contract: ConsumedContract): ValidateFunction {
  const known = validators.get(contract.type) ?? ajv.compile(jsonSchemaOf(contract));
  validators.set(contract.type, known);
  return known;
}

/** The member by which the effect of a record is found again. */
const OWN: Readonly<Record<string, { readonly member: string; readonly sql: string }>> = {
  'einmal.subscriber.upserted.v1': { member: 'subscriberId', sql: 'SELECT subscriber_id AS id FROM subscribers' },
  'einmal.subscriber.deleted.v1': {
    member: 'subscriberId',
    sql: `SELECT subscriber_id AS id FROM subscribers WHERE status = 'deleted'`,
  },
  'einmal.suppression.requested.v1': {
    member: 'email',
    sql: `SELECT split_part(address_key, '@', 1) AS id FROM suppressions WHERE active`,
  },
  'einmal.approval.granted.v1': { member: 'object', sql: 'SELECT object AS id FROM approvals WHERE granted' },
  'einmal.approval.withdrawn.v1': { member: 'object', sql: 'SELECT object AS id FROM approvals WHERE NOT granted' },
  'einmal.operation.requested.v1': {
    member: 'operationKey',
    sql: 'SELECT operation_key AS id FROM operations WHERE payload_hash IS NOT NULL',
  },
  'einmal.operation.cancel-requested.v1': {
    member: 'operationKey',
    sql: `SELECT operation_key AS id FROM operations WHERE state = 'cancelled'`,
  },
  'einmal.receipt.reported.v1': { member: 'receiptId', sql: 'SELECT receipt_id AS id FROM receipts' },
};

function withOwnId(type: string, data: object, id: string): object {
  const member = OWN[type]?.member;
  if (member === undefined) return structuredClone(data);
  return { ...data, [member]: member === 'email' ? `${id}@example.com` : id };
}

function effectOf(type: string, id: string): Effect | null {
  const sql = OWN[type]?.sql;
  return sql === undefined ? null : { sql, value: id };
}

function lastOfPartitions({ partitions, seed }: RecordsPlan): RecordCase[] {
  return CONSUMED_TOPIC_NAMES.flatMap((topic) =>
    Array.from({ length: partitions }, (_, partition) => {
      const [contract] = contractsOfTopic(topic);
      if (!contract) throw new Error(`nothing is consumed from ${topic}`);
      const id = `fuzz-${seed}-last-${topic}-${partition}`;
      const data = withOwnId(contract.type, contract.example as object, id);
      return {
        id,
        name: `${id}: the last of its partition`,
        topic,
        type: contract.type,
        value: bytesOf(data),
        expect: 'take' as const,
        effect: effectOf(contract.type, id),
        partition,
      };
    }),
  );
}

async function publish(
  { kafkaBrokers, topicPrefix, partitions }: RecordsPlan,
  cases: readonly RecordCase[],
): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: kafkaBrokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    for (const [topic, all] of Map.groupBy(cases, (each) => each.topic)) {
      for (const batch of batchesOf(all)) await send(producer, topicAddress(topicPrefix, topic), batch, partitions);
    }
  } finally {
    await producer.disconnect();
  }
}

/** As much as a broker takes in one request, whatever partitions it is for. */
function* batchesOf(cases: readonly RecordCase[]): Generator<RecordCase[]> {
  let batch: RecordCase[] = [];
  let bytes = 0;
  for (const each of cases) {
    if (batch.length === BATCH || (bytes + each.value.length > BATCH_BYTES && batch.length > 0)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(each);
    bytes += each.value.length;
  }
  if (batch.length > 0) yield batch;
}

async function send(
  producer: Producer,
  topic: string,
  cases: readonly RecordCase[],
  partitions: number,
): Promise<void> {
  await producer.send({
    topic,
    messages: cases.map(({ id, type, value, partition }, index) => ({
      key: id,
      value,
      partition: partition ?? index % partitions,
      headers: headersOf(id, type),
    })),
  });
}

/** A good envelope: what is in it is what is tried here. */
function headersOf(id: string, type: string): Record<string, string> {
  const { headers } = writeEnvelope<'einmal.subscriber.deleted.v1'>({
    type: 'einmal.subscriber.deleted.v1',
    id,
    source: '/fuzz',
    time: new Date(),
    tenantId: 'demo',
    data: { subscriberId: id },
  });
  return { ...headers, ce_type: type };
}

async function handledCount(plan: RecordsPlan): Promise<number> {
  const [row] = await plan.query<{ n: number }>(
    `SELECT ((SELECT count(*) FROM inbox WHERE source = '/fuzz' AND event_id LIKE $1)
           + (SELECT count(*) FROM dead_letters WHERE convert_from(record_key, 'UTF8') LIKE $1))::integer AS n`,
    [`fuzz-${plan.seed}-%`],
  );
  return row?.n ?? 0;
}

/** Each record is in the inbox or a dead letter, and some a moment in both: the end is when the number no longer grows. */
async function allHandled(plan: RecordsPlan, cases: readonly RecordCase[]): Promise<boolean> {
  let seen = -1;
  let since = performance.now();
  const done = await pollUntil(
    async () => {
      const now = await handledCount(plan);
      if (now !== seen) since = performance.now();
      seen = now;
      if (now >= cases.length) return true;
      return performance.now() - since > STALLED_AFTER_MS ? false : null;
    },
    { deadlineMs: 1_800_000, everyMs: 200 },
  );
  return done === true;
}

interface LetterRow {
  readonly id: string;
  readonly reason: string;
  readonly detail: string;
}

async function judge(plan: RecordsPlan, cases: readonly RecordCase[], counter: FuzzCounter): Promise<void> {
  const like = [`fuzz-${plan.seed}-%`];
  const letters = Map.groupBy(
    await plan.query<LetterRow>(
      `SELECT convert_from(record_key, 'UTF8') AS id, reason, detail FROM dead_letters
       WHERE convert_from(record_key, 'UTF8') LIKE $1`,
      like,
    ),
    ({ id }) => id,
  );
  const inbox = await plan.query<{ id: string }>(
    `SELECT event_id AS id FROM inbox WHERE source = '/fuzz' AND event_id LIKE $1`,
    like,
  );
  const handled = new Set(inbox.map(({ id }) => id));
  const effects = new Map<string, ReadonlySet<string>>();
  for (const sql of new Set(cases.flatMap(({ effect }) => (effect ? [effect.sql] : []))))
    effects.set(sql, new Set((await plan.query<{ id: string }>(sql)).map(({ id }) => id)));
  for (const each of cases) {
    counter.done += 1;
    judgeOne(each, letters.get(each.id) ?? [], handled.has(each.id), counter);
    const { effect } = each;
    if (effect && !effects.get(effect.sql)?.has(effect.value)) counter.fail(each.name, 'took no effect');
    if (effect) counter.count('effects looked for');
  }
}

function judgeOne(each: RecordCase, letters: readonly LetterRow[], isHandled: boolean, counter: FuzzCounter): void {
  const [letter] = letters;
  const isDead = letter !== undefined;
  counter.count(`${isDead ? 'dead letter' : isHandled ? 'handled' : 'lost'}, expected: ${each.expect}`);
  if (letters.length > 1) counter.fail(each.name, `${letters.length} dead letters`);
  if (!isDead && !isHandled) counter.fail(each.name, 'is neither handled nor a dead letter');
  if (each.expect === 'take' && isDead)
    counter.fail(each.name, `a good record is dead: ${letter.reason}: ${letter.detail}`);
  if (each.expect === 'refuse' && !isDead) counter.fail(each.name, 'a bad record was handled');
  if (!isDead) return;
  if (letter.reason === 'handler-failed') counter.fail(each.name, `the handler failed: ${letter.detail}`);
  // Field and rule; the rule alone where it is the text itself, or the data as a whole, that is wrong.
  const names = letter.reason === 'wrong-schema' ? /^(?:[\w.[\]*-]+: )?\S.*\S/ : /\S+ \S+/;
  if (!names.test(letter.detail)) counter.fail(each.name, `names no rule: ${letter.detail}`);
  if (letter.detail.includes('eve@example.com')) counter.fail(each.name, 'the dead letter repeats a value');
}
