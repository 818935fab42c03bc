import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from './metrics.ts';

/** Prometheus' text form as `name{labels} value` lines without comments. */
const samples = async (metrics: Metrics) => (await metrics.text()).split('\n').filter((line) => /^[a-z]/.test(line));

describe('createMetrics', () => {
  it('counts by labels', async () => {
    const metrics = createMetrics();
    metrics.recordsConsumed.inc({ consumer: 'operations', outcome: 'fresh' }, 500);
    metrics.recordsConsumed.inc({ consumer: 'operations', outcome: 'fresh' });
    metrics.attempts.inc({ provider: 'main', outcome: 'accepted' });
    expect(await samples(metrics)).toEqual(
      expect.arrayContaining([
        'einmal_records_consumed_total{consumer="operations",outcome="fresh"} 501',
        'einmal_attempts_total{provider="main",outcome="accepted"} 1',
      ]),
    );
  });

  it('forgets the series of a gauge', async () => {
    const metrics = createMetrics();
    metrics.consumerLag.set({ topic: 't', partition: '0' }, 5);
    metrics.consumerLag.set({ topic: 't', partition: '1' }, 6);
    metrics.consumerLag.remove({ topic: 't', partition: '0' });
    expect(await samples(metrics)).toEqual(['einmal_consumer_lag_records{topic="t",partition="1"} 6']);
    metrics.consumerLag.reset();
    expect(await samples(metrics)).toEqual([]);
  });

  it('keeps registries apart', async () => {
    const first = createMetrics();
    const second = createMetrics();
    first.outboxPublished.inc({ topic: 'einmal.events.v1' }, 3);
    expect(await samples(second)).toEqual([]);
    expect(await samples(first)).toHaveLength(1);
  });

  it('observes sizes and durations', async () => {
    const metrics = createMetrics();
    metrics.batchSize.observe({ of: 'claim' }, 20);
    metrics.callSeconds.observe({ provider: 'main', outcome: 'accepted' }, 0.004);
    expect(await samples(metrics)).toEqual(
      expect.arrayContaining([
        'einmal_batch_size_bucket{le="10",of="claim"} 0',
        'einmal_batch_size_bucket{le="20",of="claim"} 1',
        'einmal_call_seconds_sum{provider="main",outcome="accepted"} 0.004',
      ]),
    );
  });

  it('names everything einmal_', async () => {
    const text = await createMetrics().text();
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThanOrEqual(17);
    for (const name of names) expect(name).toMatch(/^einmal_[a-z_]+$/);
  });

  it('takes no label that grows with tenants, keys or addresses', () => {
    const source = readFileSync(new URL('metrics.ts', import.meta.url), 'utf8');
    const lists = [...source.matchAll(/(?:labels: |attemptLabels[^=]*= )\[([^\]]*)\]/g)].map(([, list]) => list ?? '');
    const labels = new Set(lists.flatMap((list) => [...list.matchAll(/'(\w+)'/g)].map(([, label]) => label)));
    const bounded = 'cause consumer loop of outcome partition provider quantile reason state step topic where';
    expect(labels).toEqual(new Set(bounded.split(' ')));
  });

  it('adds the metrics of the process on request', async () => {
    const metrics = createMetrics({ processMetrics: true });
    expect(await metrics.text()).toContain('process_resident_memory_bytes');
    expect(metrics.contentType).toMatch(/^text\/plain/);
  });
});
