import type { DataSource } from 'typeorm';
import type { EinmalConfig } from './config/einmal-config.ts';
import { claimLanes, providerLanes, ratesOf, timeoutsOf } from './dispatch/lanes-of-config.ts';
import { Composer } from './dispatch/compose.ts';
import { DispatchPipeline } from './dispatch/dispatch.pipeline.ts';
import { createRescueLoop, DispatcherService } from './dispatch/dispatcher.service.ts';
import { ProviderStops } from './dispatch/provider-stops.ts';
import { deliveryPublisher } from './dispatch/publish-delivery.ts';
import { Canaries } from './dispatch/resolve/canaries.ts';
import { ResolvePipeline } from './dispatch/resolve/resolve.pipeline.ts';
import { MaintenanceService } from './maintenance/maintenance.service.ts';
import type { HandlerRegistry } from './messaging/inbox/consumed-event.ts';
import { InboxPipeline } from './messaging/inbox/inbox.pipeline.ts';
import { InboxConsumers } from './messaging/kafka/inbox-consumers.ts';
import { ensureTopics } from './messaging/kafka/ensure-topics.ts';
import { KafkaAdmin } from './messaging/kafka/kafka-admin.ts';
import { createKafkaClient, type KafkaClient } from './messaging/kafka/kafka-client.ts';
import { KafkaProducer } from './messaging/kafka/kafka-producer.ts';
import type { OutboxLimits } from './messaging/outbox/append-to-outbox.ts';
import { EventWriter } from './messaging/outbox/produced-event.ts';
import { RelayPipeline } from './messaging/outbox/relay.pipeline.ts';
import { RelayService } from './messaging/outbox/relay.service.ts';
import { CONSUMED_TOPIC_NAMES, topicAddress, type TopicName } from './messaging/topics.ts';
import type { Logger } from './observability/logger.ts';
import type { Metrics } from './observability/metrics.ts';
import { createObservers } from './observability/observers.ts';
import { suppressUndelivered } from './operations/suppress-undelivered.ts';
import type { ProcessPart } from './runtime/process-part.ts';
import { TenantDirectory } from './tenants/tenant-directory.ts';

/** What every process has, whatever its roles. */
export interface ProcessBase {
  readonly config: EinmalConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
}

/** The parts that this process's roles need, not started yet. */
export interface ProcessParts {
  readonly events: EventWriter;
  readonly tenants: TenantDirectory;
  readonly outbox: OutboxLimits;
  /** Started by Nest as a microservice, since its handlers are Nest's. */
  readonly consumers: InboxConsumers | null;
  readonly workers: readonly ProcessPart[];
  readonly relay: RelayService | null;
  /** Ends connections that no part owns; after all parts have stopped. */
  close(): Promise<void>;
}

/** 64 KiB less than a broker takes by default, for what Kafka adds to a record. */
const MAX_MESSAGE_BYTES = 1024 * 1024 - 65_536;
const CONSUMER_STOP_MS = 10_000;

/** Builds what the roles of this process need, and nothing else. */
export function createProcessParts(base: ProcessBase): ProcessParts {
  const { config, logger, dataSource, metrics } = base;
  const roles = new Set(config.process.roles);
  const events = new EventWriter(config.kafka.topicPrefix);
  const tenants = new TenantDirectory(config);
  const outbox: OutboxLimits = { buckets: config.outbox.buckets, maxMessageBytes: MAX_MESSAGE_BYTES };
  const kafka =
    roles.has('consumer') || roles.has('relay') ? createKafkaClient({ ...kafkaSettings(config), logger }) : null;
  const admin = kafka && new KafkaAdmin({ kafka });
  const producer =
    kafka && roles.has('relay') ? new KafkaProducer({ kafka, logger, timeoutMs: produceTimeoutMs(config) }) : null;

  let relay: RelayService | null = null;
  const observers = createObservers(metrics, () => relay?.wake());
  if (producer) relay = createRelay(base, producer, observers);
  const consumers =
    kafka && admin && roles.has('consumer') ? createConsumers(base, kafka, admin, tenants, outbox, observers) : null;

  const rescue = () => createRescueLoop(dataSource, events, outbox, rescueOf(config), observers.dispatch, logger);
  const workers: ProcessPart[] = [];
  if (roles.has('dispatcher')) workers.push(createDispatcher(base, events, tenants, outbox, observers));
  if (roles.has('maintenance')) {
    workers.push(new MaintenanceService(dataSource, events, rescue(), maintenanceSettings(config, outbox), logger));
  }
  return {
    events,
    tenants,
    outbox,
    consumers,
    workers,
    relay,
    close: async () => {
      await Promise.all([producer?.close({ timeoutMs: 5_000 }), admin?.close({ timeoutMs: 2_000 })]);
    },
  };
}

type Observers = ReturnType<typeof createObservers>;

function createRelay(
  { config, dataSource, logger }: ProcessBase,
  producer: KafkaProducer,
  observers: Observers,
): RelayService {
  const { leaseSeconds, batchSize, buckets, pollMinMs, pollMaxMs } = config.outbox;
  const pipeline = new RelayPipeline(
    dataSource,
    producer,
    { leaseSeconds, batchSize, produceTimeoutMs: produceTimeoutMs(config) },
    observers.relay,
    async (messageKeys) => await suppressUndelivered(dataSource, messageKeys),
    logger,
  );
  return new RelayService(dataSource, pipeline, { buckets, pollMs: { min: pollMinMs, max: pollMaxMs } }, logger);
}

function createConsumers(
  { config, dataSource, logger }: ProcessBase,
  kafka: KafkaClient,
  admin: KafkaAdmin,
  tenants: TenantDirectory,
  outbox: OutboxLimits,
  observers: Observers,
): InboxConsumers {
  const { messaging } = config;
  const { topicPrefix } = config.kafka;
  const pipelineOf = (topic: TopicName) => (handlers: HandlerRegistry) =>
    new InboxPipeline(
      dataSource,
      handlers,
      {
        consumer: groupOf(topicPrefix, topic),
        decode: {
          topic,
          limits: { maxBytes: messaging.maxRecordBytes, maxDepth: messaging.maxJsonDepth },
          isTenant: (tenantId) => tenants.has(tenantId),
          now: () => new Date(),
        },
        retentionDays: messaging.inboxRetentionDays,
        deadLetterTopic: topicAddress(topicPrefix, 'dead-letters'),
        outbox,
      },
      observers.inbox,
      logger,
    ).handleChunk;
  return new InboxConsumers({
    consumers: CONSUMED_TOPIC_NAMES.map((topic) => ({
      kafka,
      logger,
      groupId: groupOf(topicPrefix, topic),
      topic: topicAddress(topicPrefix, topic),
      chunkSize: messaging.chunkSize,
      options: {
        sessionTimeoutMs: messaging.sessionTimeoutSeconds * 1000,
        rebalanceTimeoutMs: messaging.rebalanceTimeoutSeconds * 1000,
        stallAfterMs: messaging.progressTimeoutSeconds * 1000,
      },
      fetchLag: (groupId: string, address: string) => admin.fetchLag(groupId, address),
      handlerFrom: pipelineOf(topic),
    })),
    ensureTopics: () => ensureTopics(admin, config, logger),
    stopTimeoutMs: CONSUMER_STOP_MS,
    logger,
  });
}

function createDispatcher(
  { config, dataSource, logger }: ProcessBase,
  events: EventWriter,
  tenants: TenantDirectory,
  outbox: OutboxLimits,
  observers: Observers,
): DispatcherService {
  const { leaseSeconds, maxThrottles, accountPauseSeconds, pollMinMs, pollMaxMs } = config.dispatch;
  const providers = providerLanes(config, deliveryPublisher(dataSource, events, outbox));
  const composer = new Composer(dataSource, tenants);
  const canaries = new Canaries();
  const lanes = claimLanes(config);
  const stopSettings = { pauseSeconds: accountPauseSeconds, probeSeconds: leaseSeconds };
  const stops = new ProviderStops(dataSource, events, outbox, lanes, stopSettings, logger);
  const settings = { leaseSeconds, callTimeoutMs: timeoutsOf(config), outbox };
  const pipelineFrom = (wake: () => void) =>
    new DispatchPipeline(
      { dataSource, events, composer, lanes, providers, stops, canaries, logger, wake },
      { ...settings, maxThrottles, rates: ratesOf(config), retry: retryOf(config) },
      observers.dispatch,
    );
  return new DispatcherService(
    pipelineFrom,
    [...providers.values()],
    createRescueLoop(dataSource, events, outbox, rescueOf(config), observers.dispatch, logger),
    new ResolvePipeline(
      { dataSource, events, composer, providers, stops, canaries, logger },
      settings,
      observers.dispatch,
    ),
    { min: pollMinMs, max: pollMaxMs },
    logger,
  );
}

function maintenanceSettings(config: EinmalConfig, outbox: OutboxLimits) {
  return {
    campaignPageSize: config.campaigns.pageSize,
    maxAttempts: config.dispatch.maxAttempts,
    inboxRetentionDays: config.messaging.inboxRetentionDays,
    deadLetterDays: config.retention.deadLetterDays,
    tenants: Object.values(config.tenants),
    sweepBatch: config.retention.sweepBatch,
    sweepMs: config.retention.sweepMinutes * 60_000,
    outbox,
  };
}

function kafkaSettings({ kafka }: EinmalConfig) {
  return {
    brokers: kafka.brokers,
    clientId: 'einmal',
    ssl: kafka.ssl,
    ...(kafka.sasl === null ? {} : { sasl: kafka.sasl }),
  };
}

/** The consumer group of a topic, which is also the consumer's name in the inbox. */
function groupOf(topicPrefix: string, topic: TopicName): string {
  return `${topicPrefix}${topic}`;
}

/** A produce call must end inside the lease, with room for the delete that follows. */
function produceTimeoutMs({ outbox }: EinmalConfig): number {
  return (outbox.leaseSeconds * 1000) / 2;
}

function rescueOf({ dispatch }: EinmalConfig) {
  return { everyMs: dispatch.rescueSeconds * 1000, maxCrashes: dispatch.maxCrashes };
}

function retryOf({ dispatch }: EinmalConfig) {
  return { baseMs: dispatch.retryBaseSeconds * 1000, capMs: dispatch.retryCapSeconds * 1000 };
}
