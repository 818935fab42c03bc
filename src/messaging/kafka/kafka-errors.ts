/** What a failure of kafkajs means to us. */
export type KafkaFailureKind =
  /** This member must join its group again. Only these errors may go back into kafkajs. */
  | 'membership'
  | 'unreachable'
  | 'denied'
  | 'unknown-topic'
  | 'too-large'
  | 'invalid-record'
  /** The broker and the producer disagree about sequence numbers; only a new producer id helps. */
  | 'sequence'
  | 'unsupported'
  | 'other';

export interface KafkaFailure {
  readonly kind: KafkaFailureKind;
  /** Protocol error in lower case with dashes, a socket code such as ECONNREFUSED, or the class name without `KafkaJS`. */
  readonly code: string;
  readonly retryable: boolean;
}

// Names of https://kafka.apache.org/protocol.html#protocol_error_codes as kafkajs spells them (three differ from today's).
const KIND_BY_TYPE: ReadonlyMap<string, KafkaFailureKind> = new Map([
  ...named('membership', 'REBALANCE_IN_PROGRESS ILLEGAL_GENERATION UNKNOWN_MEMBER_ID NOT_COORDINATOR_FOR_GROUP'),
  ...named('unknown-topic', 'UNKNOWN_TOPIC_OR_PARTITION INVALID_TOPIC_EXCEPTION'),
  ...named('too-large', 'MESSAGE_TOO_LARGE RECORD_LIST_TOO_LARGE'),
  ...named('invalid-record', 'INVALID_RECORD INVALID_TIMESTAMP UNSUPPORTED_COMPRESSION_TYPE'),
  ...named('sequence', 'OUT_OF_ORDER_SEQUENCE_NUMBER DUPLICATE_SEQUENCE_NUMBER INVALID_PRODUCER_EPOCH'),
  ...named('sequence', 'UNKNOWN_PRODUCER_ID INVALID_PRODUCER_ID_MAPPING'),
  ...named('denied', 'TOPIC_AUTHORIZATION_FAILED GROUP_AUTHORIZATION_FAILED CLUSTER_AUTHORIZATION_FAILED'),
  ...named('denied', 'SASL_AUTHENTICATION_FAILED UNSUPPORTED_SASL_MECHANISM ILLEGAL_SASL_STATE SECURITY_DISABLED'),
  ...named('unsupported', 'UNSUPPORTED_VERSION UNSUPPORTED_FOR_MESSAGE_FORMAT'),
  ...named('unreachable', 'LEADER_NOT_AVAILABLE NOT_LEADER_FOR_PARTITION REQUEST_TIMED_OUT BROKER_NOT_AVAILABLE'),
  ...named('unreachable', 'REPLICA_NOT_AVAILABLE NETWORK_EXCEPTION NOT_ENOUGH_REPLICAS KAFKA_STORAGE_ERROR'),
  ...named('unreachable', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND GROUP_LOAD_IN_PROGRESS GROUP_COORDINATOR_NOT_AVAILABLE'),
]);

const KIND_BY_NAME: ReadonlyMap<string, KafkaFailureKind> = new Map([
  ...named('unreachable', 'KafkaJSConnectionError KafkaJSConnectionClosedError KafkaJSRequestTimeoutError'),
  ...named('unreachable', 'KafkaJSBrokerNotFound KafkaJSNoBrokerAvailableError KafkaJSTimeout KafkaJSLockTimeout'),
  ...named('unreachable', 'KafkaJSGroupCoordinatorNotFound KafkaJSMetadataNotLoaded KafkaJSTopicMetadataNotLoaded'),
  ...named('denied', 'KafkaJSSASLAuthenticationError'),
  ...named('unsupported', 'KafkaJSNotImplemented KafkaJSServerDoesNotSupportApiKey'),
]);

/** Classes any thrown thing by its `type`, `name` and `code`, looking through the wrappers in which kafkajs hides them. */
export function describeKafkaError(error: unknown): KafkaFailure {
  const chain = causesOf(error);
  for (const { type, retriable } of chain) {
    if (typeof type !== 'string') continue;
    return { kind: KIND_BY_TYPE.get(type) ?? 'other', code: dashed(type), retryable: retriable === true };
  }
  for (const { name, code } of chain) {
    const kind = typeof name === 'string' ? KIND_BY_NAME.get(name) : undefined;
    if (kind === undefined || typeof name !== 'string') continue;
    return { kind, code: typeof code === 'string' ? code : plainName(name), retryable: kind === 'unreachable' };
  }
  const root = chain.at(-1) ?? {};
  const code =
    typeof root.code === 'string' ? root.code : typeof root.name === 'string' ? plainName(root.name) : 'unknown';
  return { kind: 'other', code, retryable: root.retriable === true || root.retryable === true };
}

/** true for the errors by which kafkajs itself learns that it has to join again. They carry their type unwrapped. */
export function isMembershipError(error: unknown): error is Error & { readonly type: string } {
  return error instanceof Error && 'type' in error && KIND_BY_TYPE.get(String(error.type)) === 'membership';
}

/** The group has gone on without this member: what it holds belongs to others now. A rebalance in progress is not that yet. */
export function isMembershipLost(error: unknown): boolean {
  return isMembershipError(error) && (error.type === 'UNKNOWN_MEMBER_ID' || error.type === 'ILLEGAL_GENERATION');
}

interface ErrorShape {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly retriable?: unknown;
  readonly retryable?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

function causesOf(error: unknown): readonly ErrorShape[] {
  const chain: ErrorShape[] = [];
  let current: unknown = error;
  // Five wrappers are more than kafkajs nests; the bound keeps a cause that points at itself from looping.
  while (typeof current === 'object' && current !== null && chain.length < 6) {
    const shape: ErrorShape = current;
    chain.push(shape);
    current = shape.cause ?? (Array.isArray(shape.errors) ? shape.errors[0] : undefined);
  }
  return chain;
}

function named(kind: KafkaFailureKind, names: string): [string, KafkaFailureKind][] {
  return names.split(' ').map((name) => [name, kind]);
}

function dashed(type: string): string {
  return type.toLowerCase().replaceAll('_', '-');
}

function plainName(name: string): string {
  const words = name.replace(/^KafkaJS/, '').replace(/Error$/, '');
  return words.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase() || 'error';
}
