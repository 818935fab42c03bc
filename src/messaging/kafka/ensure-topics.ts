import type { EinmalConfig } from '../../config/einmal-config.ts';
import type { Logger } from '../../observability/logger.ts';
import { CONSUMED_TOPIC_NAMES, TOPIC_NAMES, topicAddress, topicOf } from '../topics.ts';
import type { KafkaAdmin, TopicsChecked } from './kafka-admin.ts';

const DAY_MS = 86_400_000;

/**
 * Creates the topics that are missing, or says that they are, and compares what each consumed topic keeps with what the
 * inbox remembers: a record that outlives its inbox row could be handled twice, and is refused as too old instead.
 */
export async function ensureTopics(admin: KafkaAdmin, config: EinmalConfig, logger: Logger): Promise<TopicsChecked> {
  const checked = config.messaging.createTopics
    ? await admin.ensureTopics(wantedTopics(config))
    : await admin.checkTopics(wantedTopics(config));
  await compareRetention(admin, config, logger);
  return checked;
}

async function compareRetention(admin: KafkaAdmin, { kafka, messaging }: EinmalConfig, logger: Logger): Promise<void> {
  const inboxMs = messaging.inboxRetentionDays * DAY_MS;
  for (const name of CONSUMED_TOPIC_NAMES) {
    const topic = topicAddress(kafka.topicPrefix, name);
    const retentionMs = await admin.retentionMs(topic);
    if (retentionMs !== null && retentionMs > inboxMs) {
      const topicDays = Number.isFinite(retentionMs) ? Math.round(retentionMs / DAY_MS) : 'for ever';
      logger.error('kafka.topic-outlives-inbox', { topic, topicDays, inboxDays: messaging.inboxRetentionDays });
    }
  }
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
