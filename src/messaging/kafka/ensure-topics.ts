import type { EinmalConfig } from '../../config/einmal-config.ts';
import type { Logger } from '../../observability/logger.ts';
import { CONSUMED_TOPIC_NAMES, TOPIC_NAMES, topicAddress, topicOf } from '../topics.ts';
import type { KafkaAdmin, TopicProblem, TopicsChecked } from './kafka-admin.ts';

const DAY_MS = 86_400_000;

/**
 * Creates the topics that are missing, or says that they are, and compares what each consumed topic keeps with what the
 * inbox and the ledger remember: a record that outlives its inbox row could not be told from a new one.
 */
export async function ensureTopics(admin: KafkaAdmin, config: EinmalConfig, logger: Logger): Promise<TopicsChecked> {
  const checked = config.messaging.createTopics
    ? await admin.ensureTopics(wantedTopics(config))
    : await admin.checkTopics(wantedTopics(config));
  return { ...checked, problems: [...checked.problems, ...(await compareRetention(admin, config, logger))] };
}

/** All three numbers are told: the topic's must be the smallest, and the inbox's not above the ledger's (checked in the file). */
async function compareRetention(
  admin: KafkaAdmin,
  { kafka, messaging, tenants }: EinmalConfig,
  logger: Logger,
): Promise<TopicProblem[]> {
  const { inboxRetentionDays: inboxDays } = messaging;
  const keyDays = Math.min(...Object.values(tenants).map((tenant) => tenant.keyRetentionDays));
  const problems: TopicProblem[] = [];
  for (const name of CONSUMED_TOPIC_NAMES) {
    const topic = topicAddress(kafka.topicPrefix, name);
    const retentionMs = await admin.retentionMs(topic);
    if (retentionMs === null) continue;
    // JSON, which the log is, has no infinity.
    const topicDays = Number.isFinite(retentionMs) ? retentionMs / DAY_MS : 'for ever';
    logger.info('kafka.topic-retention', { topic, topicDays, inboxDays, keyDays });
    if (retentionMs > inboxDays * DAY_MS) problems.push({ topic, problem: 'outlives-inbox', topicDays, inboxDays });
  }
  return problems;
}

function wantedTopics({ kafka, messaging }: EinmalConfig) {
  return TOPIC_NAMES.map((name) => ({
    topic: topicAddress(kafka.topicPrefix, name),
    partitions: messaging.partitions,
    replicationFactor: messaging.replicationFactor,
    config: {
      ...topicOf(name).config,
      // Dead letters keep what their own topic says: they are looked at by people.
      ...(name === 'dead-letters' ? {} : { 'retention.ms': String(messaging.topicRetentionDays * DAY_MS) }),
    },
  }));
}
