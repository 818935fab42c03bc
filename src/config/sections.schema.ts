import { flag, strictMap, wholeNumber } from './schema-parts.ts';

/** Units are in the names; what each key does is told in einmal.example.yaml. */
export const sectionSchemas = {
  dispatch: strictMap({
    leaseSeconds: wholeNumber(10, 3600).default(90),
    claimBatch: wholeNumber(1, 5000).default(20),
    claimBatchMax: wholeNumber(1, 5000).default(500),
    maxAttempts: wholeNumber(1, 1000).default(12),
    maxThrottles: wholeNumber(1, 1_000_000).default(1000),
    maxCrashes: wholeNumber(2, 100).default(10),
    retryBaseSeconds: wholeNumber(1, 86_400).default(1),
    retryCapSeconds: wholeNumber(1, 604_800).default(300),
    accountPauseSeconds: wholeNumber(1, 86_400).default(60),
    rescueSeconds: wholeNumber(1, 600).default(5),
    pollMinMs: wholeNumber(1, 60_000).default(20),
    pollMaxMs: wholeNumber(1, 60_000).default(1000),
  }),
  messaging: strictMap({
    createTopics: flag().default(true),
    partitions: wholeNumber(1, 1000).default(6),
    replicationFactor: wholeNumber(1, 15).default(1),
    topicRetentionDays: wholeNumber(1, 3650).default(7),
    inboxRetentionDays: wholeNumber(1, 3650).default(14),
    chunkSize: wholeNumber(1, 5000).default(500),
    maxRecordBytes: wholeNumber(1024, 10_485_760).default(1_048_576),
    maxJsonDepth: wholeNumber(8, 200).default(64),
    sessionTimeoutSeconds: wholeNumber(6, 1800).default(30),
    rebalanceTimeoutSeconds: wholeNumber(6, 1800).default(60),
    progressTimeoutSeconds: wholeNumber(10, 86_400).default(120),
  }),
  outbox: strictMap({
    buckets: wholeNumber(1, 256).default(16),
    leaseSeconds: wholeNumber(5, 600).default(30),
    batchSize: wholeNumber(1, 5000).default(500),
    pollMinMs: wholeNumber(1, 60_000).default(10),
    pollMaxMs: wholeNumber(1, 60_000).default(500),
  }),
  retention: strictMap({
    deadLetterDays: wholeNumber(1, 36_500).default(90),
    sweepMinutes: wholeNumber(1, 1440).default(10),
    sweepBatch: wholeNumber(1, 50_000).default(1000),
  }),
  campaigns: strictMap({
    pageSize: wholeNumber(1, 50_000).default(1000),
  }),
} as const;

export type SectionName = keyof typeof sectionSchemas;
