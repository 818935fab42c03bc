/** The logical names of all topics. The address of one is `prefix + name + '.v1'`. */
export type TopicName =
  | 'subscribers'
  | 'suppressions'
  | 'campaigns'
  | 'approvals'
  | 'operations'
  | 'receipts'
  | 'events'
  | 'deliveries'
  | 'dead-letters';

export interface Topic {
  readonly name: TopicName;
  /** Seen from Einmal: a peer publishes to a consumed topic, Einmal to a produced one. */
  readonly direction: 'consumed' | 'produced';
  /** What the Kafka key holds, in words of the contract, e.g. `tenant/subscriberId`. */
  readonly keyShape: string;
  readonly description: string;
  /** Topic configuration used when Einmal creates the topic; names and units are Kafka's own. */
  readonly config: Readonly<Record<string, string>>;
}

export const DEFAULT_TOPIC_PREFIX = 'einmal.';

/** Kafka allows these characters in a topic name, 249 at most; the longest suffix of ours takes 15. */
export const TOPIC_PREFIX_PATTERN = /^[a-zA-Z0-9._-]{0,200}$/;

const DAY_MS = 86_400_000;

/**
 * `delete`, never `compact`: deletions are events with data of their own, and a compacted topic keeps records for longer
 * than the inbox remembers their identity.
 */
const keptForDays = (days: number, extra: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  'cleanup.policy': 'delete',
  'retention.ms': String(days * DAY_MS),
  ...extra,
});

const allTopics: readonly Topic[] = [
  {
    name: 'subscribers',
    direction: 'consumed',
    keyShape: 'tenant/subscriberId',
    description: 'Who may be mailed, on which lists, with which attributes.',
    config: keptForDays(7),
  },
  {
    name: 'suppressions',
    direction: 'consumed',
    keyShape: 'tenant/email',
    description: 'Addresses that must not be mailed, and requests to lift such a suppression.',
    config: keptForDays(7),
  },
  {
    name: 'campaigns',
    direction: 'consumed',
    keyShape: 'tenant/campaignId',
    description: 'Revisions of campaigns, and requests to pause, resume or cancel one.',
    config: keptForDays(7),
  },
  {
    name: 'approvals',
    direction: 'consumed',
    keyShape: 'tenant/object',
    description: 'Approvals of a revision with a content hash, and their withdrawal.',
    config: keptForDays(7),
  },
  {
    name: 'operations',
    direction: 'consumed',
    keyShape: 'tenant/operationKey',
    description: 'Single operations: one intended effect each.',
    config: keptForDays(7),
  },
  {
    name: 'receipts',
    direction: 'consumed',
    keyShape: 'tenant/reference',
    description: 'What a provider reports about an effect after it took place.',
    config: keptForDays(7),
  },
  {
    name: 'events',
    direction: 'produced',
    keyShape: 'tenant/operationId, tenant/campaignId or tenant/addressHash',
    description: 'What is: the states of operations, campaigns and suppressions.',
    config: keptForDays(7),
  },
  {
    name: 'deliveries',
    direction: 'produced',
    keyShape: 'tenant/operationId',
    description: 'Deliveries asked of a provider that is itself a peer on Kafka.',
    config: keptForDays(7),
  },
  {
    name: 'dead-letters',
    direction: 'produced',
    keyShape: 'the key of the refused record, byte for byte',
    description: 'Refused records, with their original bytes and headers and the reason.',
    // A refused record may be the one that was too large elsewhere.
    config: keptForDays(30, { 'max.message.bytes': String(16 * 1024 * 1024) }),
  },
];

export const TOPIC_NAMES: readonly TopicName[] = allTopics.map((topic) => topic.name);
export const CONSUMED_TOPIC_NAMES: readonly TopicName[] = namesOf('consumed');
export const PRODUCED_TOPIC_NAMES: readonly TopicName[] = namesOf('produced');

const topicsByName: ReadonlyMap<TopicName, Topic> = new Map(allTopics.map((topic) => [topic.name, topic]));

export function topicOf(name: TopicName): Topic {
  const topic = topicsByName.get(name);
  if (topic === undefined) {
    throw new TypeError('not a topic of this service');
  }
  return topic;
}

/** The name of the topic on the broker, e.g. `einmal.subscribers.v1`. `prefix` matches {@link TOPIC_PREFIX_PATTERN}. */
export function topicAddress(prefix: string, name: TopicName): string {
  return `${prefix}${name}.v1`;
}

function namesOf(direction: Topic['direction']): readonly TopicName[] {
  return allTopics.filter((topic) => topic.direction === direction).map((topic) => topic.name);
}
