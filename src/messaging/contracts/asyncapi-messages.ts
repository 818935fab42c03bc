import { deadLetterHeaders } from '../dead-letter-reason.ts';
import { DEFAULT_TOPIC_PREFIX, topicAddress, topicOf } from '../topics.ts';
import type { Contract } from './contract.ts';
import { jsonSchemaOf, type JsonSchema } from './json-schema.ts';
import { contractOf } from './registry.ts';

/** The contracts are written in this draft; AsyncAPI's own default is close to draft-07. */
export const PAYLOAD_FORMAT = 'application/schema+json;version=draft-2020-12';
export const KAFKA_BINDING_VERSION = '0.5.0';
export const DEAD_LETTER = 'dead-letter';

export interface Reference {
  readonly $ref: string;
}

/** A schema of AsyncAPI's own format: it may refer to other parts of the document. */
export type DocumentSchema = Omit<JsonSchema, 'allOf'> & {
  readonly allOf?: readonly Reference[];
  readonly examples?: readonly unknown[];
};

export interface Message {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly contentType: string;
  readonly correlationId?: Reference;
  readonly headers: DocumentSchema;
  readonly payload: DocumentSchema | { readonly schemaFormat: string; readonly schema: JsonSchema };
  readonly bindings: {
    readonly kafka: { readonly key: DocumentSchema; readonly bindingVersion: string };
  };
  readonly examples: readonly MessageExample[];
}

export interface MessageExample {
  readonly name: string;
  readonly summary: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: unknown;
}

const EXAMPLE_TIME = '2026-12-01T08:00:07.000Z';
const REQUEST_ID = 'b2f6b9d0-59c9-4f2b-8a52-b0a9f0a0c7d1';
const FACT_ID = '5b7c1d4e-8a2f-4e6b-9c3d-1f0e2d3c4b5a';

/** The message of an event type: what of it is checked by a contract, as a peer's tools can check it. */
export function messageOf(contract: Contract): Message {
  const topic = topicOf(contract.topic);
  const { headers, key } = exampleOf(contract);
  const headersOfDirection = topic.direction === 'consumed' ? 'receivedHeaders' : 'sentHeaders';
  return {
    name: contract.type,
    title: contract.type,
    description: contract.description,
    contentType: 'application/json',
    correlationId: { $ref: '#/components/correlationIds/causation' },
    headers: {
      type: 'object',
      allOf: [{ $ref: `#/components/schemas/${headersOfDirection}` }],
      properties: { ce_type: { const: contract.type } },
    },
    payload: { schemaFormat: PAYLOAD_FORMAT, schema: jsonSchemaOf(contract) },
    bindings: {
      kafka: {
        key: { type: 'string', pattern: String.raw`^[\s\S]+/[\s\S]+$`, description: topic.keyShape, examples: [key] },
        bindingVersion: KAFKA_BINDING_VERSION,
      },
    },
    examples: [{ name: 'example', summary: `With the key ${key}.`, headers, payload: contract.example }],
  };
}

/** A record that was refused: it may hold anything, so only its headers are described. */
export function deadLetterMessage(): Message {
  const topic = topicOf('dead-letters');
  const refused = exampleOf(contractOf('einmal.subscriber.deleted.v1'));
  const payload = '{"subscriberID":"sub_7"}';
  const headers = {
    ...refused.headers,
    [deadLetterHeaders.reason]: 'wrong-schema',
    [deadLetterHeaders.exception]: 'subscriberId: is required; unknown member subscriberID; did you mean subscriberId?',
    [deadLetterHeaders.topic]: topicAddress(DEFAULT_TOPIC_PREFIX, 'subscribers'),
    [deadLetterHeaders.partition]: '0',
    [deadLetterHeaders.offset]: '4711',
    [deadLetterHeaders.timestamp]: EXAMPLE_TIME,
    [deadLetterHeaders.consumer]: 'einmal.subscribers',
    [deadLetterHeaders.attempts]: '1',
  };
  return {
    name: DEAD_LETTER,
    title: 'Dead letter',
    description: 'A record that was refused, with the bytes of its key and its value and all of its headers.',
    contentType: 'application/octet-stream',
    headers: { type: 'object', allOf: [{ $ref: '#/components/schemas/deadLetterHeaders' }] },
    payload: { description: 'The value of the refused record; none when it had none, or was too large for any topic.' },
    bindings: { kafka: { key: { description: topic.keyShape }, bindingVersion: KAFKA_BINDING_VERSION } },
    examples: [{ name: 'example', summary: 'A misspelt member.', headers, payload }],
  };
}

/** Headers and key as the publisher of such a message writes them. */
function exampleOf(contract: Contract): { headers: Readonly<Record<string, string>>; key: string } {
  const stated = topicOf(contract.topic).direction === 'produced';
  const [id, source] = stated ? [FACT_ID, '/einmal'] : [REQUEST_ID, '/shop'];
  const headers = {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: source,
    ce_type: contract.type,
    ce_time: EXAMPLE_TIME,
    ce_tenantid: 'acme',
    ...(stated ? { ce_causationid: REQUEST_ID } : {}),
    ce_traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };
  return { headers, key: `acme/${contract.entityKey(contract.example)}` };
}
