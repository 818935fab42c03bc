import { collectDefaultMetrics, Registry } from 'prom-client';
import { counter, type CounterOf, gauge, type GaugeOf, histogram, type HistogramOf } from './metric-kinds.ts';

export type RecordOutcome = 'fresh' | 'duplicate' | 'conflict' | 'dead';
/** What is known after one call. */
export type AttemptOutcome =
  | 'accepted'
  | 'not-sent'
  | 'throttled'
  | 'rejected'
  | 'suppressed'
  | 'account'
  | 'ambiguous'
  | 'duplicate'
  | 'concurrent'
  | 'key-mismatch';
export type DispatchStep = 'commit-intents' | 'record' | 'resolve';
export type OldestOf = 'queued' | 'claimed' | 'outbox';
export type BatchOf = 'inbox' | 'outbox' | 'claim' | 'intent' | 'record' | 'materialise';

/** Powers of two up to the largest batch that the configuration allows. */
const SIZE_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000];
/** 1 ms to the longest provider timeout. */
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Every metric of the service. No label takes its values from tenants, addresses, keys or texts: the number of series is
 * bounded by the configuration and the code.
 */
export interface Metrics {
  /** Content type and text of `/metrics`. */
  readonly contentType: string;
  text(): Promise<string>;

  readonly recordsConsumed: CounterOf<{ consumer: string; outcome: RecordOutcome }>;
  readonly deadLetters: CounterOf<{ consumer: string; reason: string }>;
  readonly consumerLag: GaugeOf<{ topic: string; partition: string }>;
  readonly consumerRestarts: CounterOf<{ consumer: string; reason: string }>;
  readonly consumerPauses: CounterOf<{ consumer: string; reason: string }>;
  readonly operations: GaugeOf<{ state: string }>;
  readonly attempts: CounterOf<{ provider: string; outcome: AttemptOutcome }>;
  readonly callSeconds: HistogramOf<{ provider: string; outcome: AttemptOutcome }>;
  readonly claimLosses: CounterOf<{ step: DispatchStep }>;
  readonly suppressed: CounterOf<{ where: 'audience' | 'intent' | 'outbox' }>;
  readonly resolutionSteps: CounterOf<{ provider: string; step: string; state: string }>;
  readonly unknown: CounterOf<{ cause: 'ambiguous' | 'lease-expired' }>;
  readonly outboxPublished: CounterOf<{ topic: string }>;
  readonly oldestAgeSeconds: GaugeOf<{ of: OldestOf }>;
  readonly batchSize: HistogramOf<{ of: BatchOf }>;
  readonly batchSeconds: HistogramOf<{ of: BatchOf }>;
  readonly loopFailures: CounterOf<{ loop: string }>;
  readonly eventLoopDelaySeconds: GaugeOf<{ quantile: 'mean' | 'p99' | 'max' }>;
}

/** A registry of its own per call, so that tests and several services in one process do not meet. */
export function createMetrics({ processMetrics = false }: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  // Under their usual names (process_*, nodejs_*), which ready-made dashboards expect.
  if (processMetrics) collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    ...messagingMetrics(registry),
    ...dispatchMetrics(registry),
    ...sharedMetrics(registry),
  };
}

function messagingMetrics(registry: Registry) {
  return {
    recordsConsumed: counter<{ consumer: string; outcome: RecordOutcome }>(registry, {
      name: 'einmal_records_consumed_total',
      help: 'Records consumed from Kafka, by what the inbox made of them',
      labels: ['consumer', 'outcome'],
    }),
    deadLetters: counter<{ consumer: string; reason: string }>(registry, {
      name: 'einmal_dead_letters_total',
      help: 'Records written to the dead letters, by reason code',
      labels: ['consumer', 'reason'],
    }),
    consumerLag: gauge<{ topic: string; partition: string }>(registry, {
      name: 'einmal_consumer_lag_records',
      help: 'Records between the committed offset and the high watermark of an assigned partition',
      labels: ['topic', 'partition'],
    }),
    consumerRestarts: counter<{ consumer: string; reason: string }>(registry, {
      name: 'einmal_consumer_restarts_total',
      help: 'Restarts of a consumer by its supervisor',
      labels: ['consumer', 'reason'],
    }),
    consumerPauses: counter<{ consumer: string; reason: string }>(registry, {
      name: 'einmal_consumer_pauses_total',
      help: 'Times a partition was paused to wait out an outage',
      labels: ['consumer', 'reason'],
    }),
    outboxPublished: counter<{ topic: string }>(registry, {
      name: 'einmal_outbox_published_total',
      help: 'Outbox rows acknowledged by the broker',
      labels: ['topic'],
    }),
  };
}

function dispatchMetrics(registry: Registry) {
  const attemptLabels: readonly ['provider', 'outcome'] = ['provider', 'outcome'];
  return {
    operations: gauge<{ state: string }>(registry, {
      name: 'einmal_operations',
      help: 'Operations of the ledger by state',
      labels: ['state'],
    }),
    attempts: counter<{ provider: string; outcome: AttemptOutcome }>(registry, {
      name: 'einmal_attempts_total',
      help: 'Attempts by outcome',
      labels: attemptLabels,
    }),
    callSeconds: histogram<{ provider: string; outcome: AttemptOutcome }>(
      registry,
      { name: 'einmal_call_seconds', help: 'Duration of one provider call', labels: attemptLabels },
      SECONDS_BUCKETS,
    ),
    claimLosses: counter<{ step: DispatchStep }>(registry, {
      name: 'einmal_claim_losses_total',
      help: 'Writes that found their claim number outdated, by step',
      labels: ['step'],
    }),
    suppressed: counter<{ where: 'audience' | 'intent' | 'outbox' }>(registry, {
      name: 'einmal_suppressed_total',
      help: 'Operations stopped by a suppression, by the place that found it',
      labels: ['where'],
    }),
    resolutionSteps: counter<{ provider: string; step: string; state: string }>(registry, {
      name: 'einmal_resolution_steps_total',
      help: 'Steps for unknown outcomes, and the state after each: unknown while it is not resolved',
      labels: ['provider', 'step', 'state'],
    }),
    unknown: counter<{ cause: 'ambiguous' | 'lease-expired' }>(registry, {
      name: 'einmal_unknown_total',
      help: 'Attempts whose result is not known',
      labels: ['cause'],
    }),
  };
}

function sharedMetrics(registry: Registry) {
  return {
    oldestAgeSeconds: gauge<{ of: OldestOf }>(registry, {
      name: 'einmal_oldest_age_seconds',
      help: 'Age of the oldest due queued operation, claimed operation and outbox row; 0 when there is none',
      labels: ['of'],
    }),
    batchSize: histogram<{ of: BatchOf }>(
      registry,
      { name: 'einmal_batch_size', help: 'Rows of one batch', labels: ['of'] },
      SIZE_BUCKETS,
    ),
    batchSeconds: histogram<{ of: BatchOf }>(
      registry,
      { name: 'einmal_batch_seconds', help: 'Duration of one batch', labels: ['of'] },
      SECONDS_BUCKETS,
    ),
    loopFailures: counter<{ loop: string }>(registry, {
      name: 'einmal_loop_failures_total',
      help: 'Failed passes of a polling loop',
      labels: ['loop'],
    }),
    eventLoopDelaySeconds: gauge<{ quantile: 'mean' | 'p99' | 'max' }>(registry, {
      name: 'einmal_event_loop_delay_seconds',
      help: 'How late the event loop served its timers lately',
      labels: ['quantile'],
    }),
  };
}
