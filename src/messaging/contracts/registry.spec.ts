import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';

import { OPERATION_STATES } from '../../operations/operation.states.ts';
import { TOPIC_NAMES, topicOf } from '../topics.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { byType, consumedContract, contractOf, contracts, contractsOfTopic, producedContract } from './registry.ts';
import { validate } from './validate.ts';
import { operationStates } from './vocabulary.ts';

const all = [...contracts.values()];
const received = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('each contract', () => {
  it.each(all)('$type has an example that it accepts', (contract) => {
    expect(validate(contract, received(contract.example))).toEqual({ ok: true, data: contract.example });
  });

  it.each(all)('$type has a JSON Schema that accepts its example and no other member', (contract) => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    addFormats.default(ajv);
    const accepts = ajv.compile(jsonSchemaOf(contract));
    accepts(received(contract.example));
    expect(accepts.errors).toBeNull();
    expect(accepts({ ...(contract.example as object), surplus: 1 })).toBe(false);
    expect(accepts({})).toBe(false);
  });

  it.each(all)('$type refuses an unknown member and the absence of any required one', (contract) => {
    const example = contract.example as Record<string, unknown>;
    expect(validate(contract, { ...example, surplus: 1 }).ok).toBe(false);
    const schema = jsonSchemaOf(contract);
    for (const name of (schema.oneOf?.[0] ?? schema).required ?? []) {
      const { [name]: _left, ...rest } = example;
      expect(validate(contract, rest)).toMatchObject({ ok: false, problems: [{ path: name, rule: 'is required' }] });
    }
  });

  it.each(all)('$type has a key, a version and a direction', (contract) => {
    const { direction } = topicOf(contract.topic);
    expect(contract.type).toMatch(/^einmal\.[a-z]+\.[a-z-]+\.v1$/);
    expect(contract.entityKey(contract.example)).not.toBe('');
    expect(consumedContract(contract.type)).toBe(direction === 'consumed' ? contract : undefined);
    expect(producedContract(contract.type)).toBe(direction === 'produced' ? contract : undefined);
  });
});

describe('the registry', () => {
  it('has every type of every topic', () => {
    const counts = TOPIC_NAMES.map((name) => [name, contractsOfTopic(name).length]);
    expect(Object.fromEntries(counts)).toEqual({
      subscribers: 2,
      suppressions: 2,
      campaigns: 4,
      approvals: 2,
      operations: 2,
      receipts: 1,
      events: 27,
      deliveries: 1,
      'dead-letters': 0,
    });
  });

  it('refuses a second contract of the same type', () => {
    const contract = contractOf('einmal.subscriber.deleted.v1');
    expect(() => byType([contract, { ...contract, topic: 'events' }])).toThrow(TypeError);
  });

  it('knows nothing by other names', () => {
    expect(consumedContract('einmal.subscriber.upserted')).toBeUndefined();
    expect(consumedContract('__proto__')).toBeUndefined();
  });

  it('speaks of the states that the ledger has', () => {
    expect(operationStates.toSorted()).toEqual(OPERATION_STATES.toSorted());
  });
});
