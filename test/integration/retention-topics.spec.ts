import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { EinmalConfig } from '../../src/config/einmal-config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { ensureTopics } from '../../src/messaging/kafka/ensure-topics.ts';
import { InboxConsumers } from '../../src/messaging/kafka/inbox-consumers.ts';
import { KafkaAdmin, type TopicProblem } from '../../src/messaging/kafka/kafka-admin.ts';
import { createKafkaClient } from '../../src/messaging/kafka/kafka-client.ts';
import { CONSUMED_TOPIC_NAMES, topicAddress } from '../../src/messaging/topics.ts';
import { silentLogger, type LogFields, type Logger } from '../../src/observability/logger.ts';
import { eventually } from '../support/eventually.ts';
import { projectRoot } from '../support/stack/folders.ts';

const brokers = inject('kafkaBrokers').split(',');
const kafka = createKafkaClient({ brokers, clientId: 'retention-test', logger: silentLogger });
const admin = new KafkaAdmin({ kafka });
const prefix = `ret-${randomBytes(4).toString('hex')}.`;

let lines: { readonly event: string; readonly fields: LogFields | undefined }[];
const logger: Logger = {
  ...silentLogger,
  info: (event, fields) => void lines.push({ event, fields }),
  error: (event, fields) => void lines.push({ event, fields }),
};

beforeEach(() => {
  lines = [];
});
afterAll(async () => await admin.close({ timeoutMs: 2_000 }));

/** The example file, with other days. */
function configWith(days: { readonly topic: number; readonly inbox: number }): EinmalConfig {
  const loaded = loadConfig({
    env: {
      EINMAL_CONFIG: join(projectRoot, 'einmal.example.yaml'),
      DATABASE_URL: 'postgresql://localhost/x',
      KAFKA_BROKERS: brokers.join(','),
      EINMAL_TOPIC_PREFIX: prefix,
    },
  });
  if (!loaded.ok) throw new Error(loaded.errors.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  const { config } = loaded;
  const messaging = { ...config.messaging, topicRetentionDays: days.topic, inboxRetentionDays: days.inbox };
  return { ...config, messaging };
}

/** A new topic may not be known by all of the broker at once; the service looks again as well. */
async function topicsAreThere(): Promise<void> {
  await eventually('the topics', 30_000, async () => {
    const { problems } = await ensureTopics(admin, configWith({ topic: 7, inbox: 14 }), silentLogger);
    return problems.length === 0;
  });
}

const refusals = () => lines.filter(({ event }) => event === 'kafka.topic-problem');

describe('at the start', () => {
  it('the days of topic, inbox and keys are told, and a topic that outlives the inbox is a problem', async () => {
    await topicsAreThere();
    const { problems } = await ensureTopics(admin, configWith({ topic: 7, inbox: 14 }), logger);
    expect(problems).toEqual([]);
    const told = lines.filter(({ event }) => event === 'kafka.topic-retention').map(({ fields }) => fields);
    expect(told).toEqual(
      CONSUMED_TOPIC_NAMES.map((name) => ({
        topic: topicAddress(prefix, name),
        topicDays: 7,
        inboxDays: 14,
        keyDays: 400,
      })),
    );
    const shorter = await ensureTopics(admin, configWith({ topic: 7, inbox: 6 }), logger);
    expect(shorter.problems).toEqual(
      CONSUMED_TOPIC_NAMES.map((name) => ({
        topic: topicAddress(prefix, name),
        problem: 'outlives-inbox',
        topicDays: 7,
        inboxDays: 6,
      })),
    );
  });

  it('nothing is consumed while a topic outlives the inbox, and the reason is told each time', async () => {
    const topic = topicAddress(prefix, 'subscribers');
    await topicsAreThere();
    let problems: TopicProblem[] = [{ topic, problem: 'outlives-inbox', topicDays: 'for ever', inboxDays: 14 }];
    const consumers = new InboxConsumers({
      consumers: [
        {
          kafka,
          logger: silentLogger,
          groupId: `${prefix}group`,
          topic,
          chunkSize: 10,
          fetchLag: () => Promise.resolve([]),
          handlerFrom: () => () => Promise.resolve({ kind: 'done' }),
        },
      ],
      ensureTopics: () => Promise.resolve({ created: [], problems }),
      stopTimeoutMs: 5_000,
      logger,
    });
    consumers.start({ handlerOf: () => undefined });
    await eventually('the second look', 20_000, () => Promise.resolve(refusals().length >= 2));
    expect(consumers.statuses()).toEqual([]);
    expect(refusals()[0]?.fields).toEqual({ topic, problem: 'outlives-inbox', topicDays: 'for ever', inboxDays: 14 });
    problems = [{ topic, problem: 'fewer-partitions', wanted: 6, found: 1 }];
    await eventually('the start', 20_000, () => Promise.resolve(consumers.statuses().length === 1));
    await consumers.stop();
  });
});
