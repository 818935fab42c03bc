import { DEFAULT_TOPIC_PREFIX, TOPIC_NAMES, topicOf, type Topic } from '../topics.ts';
import { deadLetterHeaderSchema, receivedHeaders, sentHeaders, type HeaderSchema } from './asyncapi-headers.ts';
import {
  DEAD_LETTER,
  deadLetterMessage,
  KAFKA_BINDING_VERSION,
  messageOf,
  type Message,
  type Reference,
} from './asyncapi-messages.ts';
import { contracts, contractsOfTopic } from './registry.ts';

/** The parts of AsyncAPI 3.0 that this service has something to say in. */
export interface AsyncApiDocument {
  readonly asyncapi: '3.0.0';
  readonly info: Readonly<Record<'title' | 'version' | 'description', string>> & {
    readonly license: Readonly<Record<'name' | 'url', string>>;
  };
  readonly defaultContentType: string;
  readonly servers: Readonly<Record<string, object>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, HeaderSchema>>;
    readonly correlationIds: Readonly<Record<string, object>>;
  };
}

export interface Channel {
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, Reference>>;
  readonly parameters: Readonly<Record<string, { readonly default: string; readonly description: string }>>;
  readonly bindings: { readonly kafka: { readonly topicConfiguration: object; readonly bindingVersion: string } };
}

/** Seen from this service: it receives what peers publish. */
export interface Operation {
  readonly action: 'receive' | 'send';
  readonly title: string;
  readonly description: string;
  readonly channel: Reference;
  readonly messages: readonly Reference[];
}

/** Of the messages, all of which are of version 1, and not of the service that carries them. */
const MESSAGES_VERSION = '1.0.0';

const DESCRIPTION = `Makes an operation take effect once, or says that it does not know. Peers submit, request, grant and report; Einmal states what is.

Messages are CloudEvents 1.0. The operations below are seen from Einmal: what it receives, a peer publishes. Rules between members, and sizes in bytes, are validated but have no form in the schemas; lengths count UTF-16 code units. How payload hash and operation id are made: docs/payload-hash.md.`;

/** The AsyncAPI 3.0 document, made from the topics and contracts alone. Plain JSON, the same at each call. */
export function asyncApiDocument(): AsyncApiDocument {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Einmal',
      version: MESSAGES_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { kafka: broker() },
    channels: Object.fromEntries(TOPIC_NAMES.map((name) => [name, channelOf(topicOf(name))])),
    operations: Object.fromEntries(TOPIC_NAMES.map((name) => operationOf(topicOf(name)))),
    components: {
      messages: {
        ...Object.fromEntries([...contracts.values()].map((contract) => [contract.type, messageOf(contract)])),
        [DEAD_LETTER]: deadLetterMessage(),
      },
      schemas: { receivedHeaders, sentHeaders, deadLetterHeaders: deadLetterHeaderSchema },
      correlationIds: {
        causation: {
          description: 'The `ce_id` of the message that led to this one: a fact names the request that it answers.',
          location: '$message.header#/ce_causationid',
        },
      },
    },
  };
}

function broker(): object {
  return {
    host: '{bootstrap}',
    protocol: 'kafka',
    description: 'The brokers that the service is configured with in KAFKA_BROKERS.',
    variables: { bootstrap: { default: 'localhost:9092', description: 'Host and port of a broker.' } },
  };
}

function channelOf(topic: Topic): Channel {
  const names = messageNames(topic);
  return {
    address: `{prefix}${topic.name}.v1`,
    title: topic.name,
    description: `${topic.description} Kafka key: ${topic.keyShape}.`,
    messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
    parameters: {
      prefix: {
        default: DEFAULT_TOPIC_PREFIX,
        description: 'EINMAL_TOPIC_PREFIX of the service.',
      },
    },
    bindings: { kafka: { topicConfiguration: configurationOf(topic), bindingVersion: KAFKA_BINDING_VERSION } },
  };
}

/** Kafka's own names; the binding wants numbers and a list of policies. */
function configurationOf({ config }: Topic): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, name === 'cleanup.policy' ? [value] : Number(value)]),
  );
}

function operationOf(topic: Topic): [string, Operation] {
  const action = topic.direction === 'consumed' ? 'receive' : 'send';
  const messages = messageNames(topic).map((name) => ({ $ref: `#/channels/${topic.name}/messages/${name}` }));
  const operation = {
    action,
    title: `${action} ${topic.name}`,
    description: topic.description,
    channel: { $ref: `#/channels/${topic.name}` },
    messages,
  } as const;
  return [`${action}.${topic.name}`, operation];
}

function messageNames({ name }: Topic): readonly string[] {
  return name === 'dead-letters' ? [DEAD_LETTER] : contractsOfTopic(name).map(({ type }) => type);
}
