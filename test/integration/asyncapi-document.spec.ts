import { readFileSync } from 'node:fs';
import schema from '@asyncapi/specs/schemas/3.0.0.json' with { type: 'json' };
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { asyncApiDocument } from '../../src/messaging/contracts/asyncapi.ts';
import { contracts, contractsOfTopic } from '../../src/messaging/contracts/registry.ts';
import { readEnvelope } from '../../src/messaging/envelope.ts';
import { DEFAULT_TOPIC_PREFIX, TOPIC_NAMES, topicAddress, topicOf } from '../../src/messaging/topics.ts';
import { validateDeadLetter, validateEvent } from '../support/validate-event.ts';

const document = asyncApiDocument();
const messages = Object.values(document.components.messages);
const events = messages.filter(({ name }) => name !== 'dead-letter');
const NOW = new Date('2026-12-01T09:00:00Z');
const LIMITS = { maxBytes: 1_048_576, maxDepth: 64 };

describe('docs/asyncapi.json', () => {
  // On a difference run: node src/messaging/contracts/write-asyncapi.ts
  it('says what the contracts say', () => {
    const file = readFileSync(new URL('../../docs/asyncapi.json', import.meta.url), 'utf8');
    expect(file === `${JSON.stringify(document, null, 2)}\n`).toBe(true);
  });
});

describe('the document', () => {
  // The official schema brings the meta-schema that it refers to.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
  addFormats.default(ajv);
  const isAsyncApi = ajv.compile(schema);

  it('is AsyncAPI 3.0 by the official schema', () => {
    isAsyncApi(plain());
    expect(isAsyncApi.errors).toBeNull();
  });

  it.each([
    ['another version', { asyncapi: '2.6.0' }],
    ['a member that AsyncAPI has not', { topics: {} }],
    ['an action that is none', { operations: { x: { action: 'publish', channel: { $ref: '#/channels/events' } } } }],
    ['a setting of a topic that is text', { channels: { x: { bindings: { kafka: { partitions: '3' } } } } }],
    ['a type that no schema has', { components: { schemas: { x: { type: 'text' } } } }],
  ])('would not be with %s', (_what, changes) => {
    expect(isAsyncApi({ ...plain(), ...changes })).toBe(false);
  });

  it('refers to nothing that is not there', () => {
    const references = referencesIn(document);
    expect(references.length).toBeGreaterThan(messages.length * 3);
    expect(references.filter((reference) => at(reference) === undefined)).toEqual([]);
  });

  it('has a channel and one operation for each topic, from the point of view of the service', () => {
    for (const name of TOPIC_NAMES) {
      const action = topicOf(name).direction === 'consumed' ? 'receive' : 'send';
      const operations = Object.values(document.operations).filter(({ channel }) => channel.$ref.endsWith(`/${name}`));
      expect(operations).toMatchObject([{ action }]);
      const { address, messages: there } = document.channels[name] ?? { address: '', messages: {} };
      expect(address.replace('{prefix}', DEFAULT_TOPIC_PREFIX)).toBe(topicAddress(DEFAULT_TOPIC_PREFIX, name));
      const types = contractsOfTopic(name).map(({ type }) => type);
      expect(Object.keys(there)).toEqual(name === 'dead-letters' ? ['dead-letter'] : types);
      expect(operations[0]?.messages).toHaveLength(Object.keys(there).length);
    }
  });

  it('has a message for each type, named like it', () => {
    expect(events.map(({ name }) => name)).toEqual([...contracts.keys()]);
    expect(Object.keys(document.components.messages)).toEqual(messages.map(({ name }) => name));
  });

  it.each(events)('$name has an example that is right', ({ examples: [example] }) => {
    const key = /key (.*)\.$/.exec(example?.summary ?? '')?.[1] ?? '';
    const value = Buffer.from(JSON.stringify(example?.payload));
    expect(validateEvent(example?.headers ?? {}, value, { key })).toBeNull();
    expect(reading(example?.headers ?? {}, value)).toBe('ok');
  });

  it('has an example of a dead letter that is right', () => {
    const { headers = {} } = document.components.messages['dead-letter']?.examples[0] ?? {};
    expect(validateDeadLetter(headers)).toBeNull();
  });
});

describe('the headers that it asks for', () => {
  const received = document.components.schemas['receivedHeaders'];
  const headers = events[0]?.examples[0]?.headers ?? {};
  const bounds = Object.entries(received?.properties ?? {}).flatMap(([name, { maxLength, format }]) =>
    maxLength === undefined || format !== undefined || name.endsWith('tracestate') ? [] : [{ name, maxLength }],
  );
  const value = Buffer.from('{}');

  it('are bound in length', () => {
    expect(bounds.map(({ name }) => name)).toEqual([
      'ce_id',
      'ce_source',
      'ce_type',
      'ce_tenantid',
      'ce_subject',
      'ce_causationid',
      'ce_dataschema',
    ]);
  });

  it.each(bounds)('$name has the length that the service reads', ({ name, maxLength }) => {
    expect(reading({ ...headers, [name]: 'x'.repeat(maxLength) }, value)).toBe('ok');
    expect(reading({ ...headers, [name]: 'x'.repeat(maxLength + 1) }, value)).toBe('not-cloudevent');
    expect(reading({ ...headers, [name]: 'a\nb' }, value)).toBe('not-cloudevent');
  });

  it('are those that the service cannot do without', () => {
    const needed = Object.keys(received?.properties ?? {}).filter((name) => {
      const { [name]: _left, ...rest } = headers;
      return reading(rest, value) !== 'ok';
    });
    expect(needed.toSorted()).toEqual(received?.required?.toSorted());
  });
});

function plain(): Record<string, unknown> {
  return JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
}

function reading(headers: Readonly<Record<string, string>>, value: Buffer): string {
  const entries = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const);
  const read = readEnvelope({ key: null, value, headers: entries }, LIMITS, NOW);
  return read.ok ? 'ok' : read.reason;
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  );
}

function at(reference: string): unknown {
  let found: unknown = document;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    found =
      typeof found === 'object' && found !== null ? Object.entries(found).find(([name]) => name === step)?.[1] : 0;
  }
  return found;
}
