import type { ConsumerStatus } from '../messaging/kafka/consumer-supervisor.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { EventLoopDelay } from '../runtime/event-loop-delay.ts';

/** The text of `/metrics`, with what is read at the moment of the scrape. */
export class ProcessMetrics {
  constructor(
    private readonly metrics: Metrics,
    private readonly consumers: () => readonly ConsumerStatus[],
    private readonly eventLoop: EventLoopDelay,
  ) {}

  async text(): Promise<string> {
    // Partitions move between replicas: only those that are ours now are told.
    this.metrics.consumerLag.reset();
    for (const { topic, partitions } of this.consumers()) {
      for (const { partition, lag } of partitions) {
        if (lag !== null) this.metrics.consumerLag.set({ topic, partition: String(partition) }, lag);
      }
    }
    const { meanMs, p99Ms, maxMs } = this.eventLoop.sample();
    this.metrics.eventLoopDelaySeconds.set({ quantile: 'mean' }, meanMs / 1000);
    this.metrics.eventLoopDelaySeconds.set({ quantile: 'p99' }, p99Ms / 1000);
    this.metrics.eventLoopDelaySeconds.set({ quantile: 'max' }, maxMs / 1000);
    return await this.metrics.text();
  }
}
