import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import type { ConsumerStatus } from '../messaging/kafka/consumer-supervisor.ts';
import type { EventLoopDelay } from '../runtime/event-loop-delay.ts';
import type { PollingLoopHealth } from '../runtime/polling-loop.ts';
import { ProcessHealth, type HealthSources } from './process-health.ts';

const consumer = (state: ConsumerStatus['state']): ConsumerStatus => ({
  topic: 'einmal.operations.v1',
  groupId: 'einmal.operations',
  state,
  joinedAt: null,
  lastHeartbeatAt: null,
  lastBatchAt: null,
  partitions: [],
  incidents: 0,
  restarts: 0,
  lastErrorCode: null,
});

const loop = (currentRunMs: number): PollingLoopHealth => ({
  name: 'dispatcher',
  running: true,
  lastRunAt: null,
  lastErrorCode: null,
  failuresInARow: 0,
  currentRunMs,
});

interface World {
  database?: 'up' | 'down' | 'hangs';
  consumers?: ConsumerStatus[];
  consumersWanted?: number;
  loops?: PollingLoopHealth[];
  stallMs?: number;
  joinGraceMs?: number;
}

function healthIn(world: World): ProcessHealth {
  const query = (): Promise<unknown> => {
    if (world.database === 'down') return Promise.reject(new Error('down'));
    return world.database === 'hangs' ? new Promise(() => undefined) : Promise.resolve([]);
  };
  const sources: HealthSources = {
    dataSource: { query } as unknown as DataSource,
    consumers: () => world.consumers ?? [],
    consumersWanted: world.consumersWanted ?? world.consumers?.length ?? 0,
    loops: () => world.loops ?? [],
    eventLoop: { sample: () => ({ meanMs: 0, p99Ms: 0, maxMs: world.stallMs ?? 0 }) } as unknown as EventLoopDelay,
    joinGraceMs: world.joinGraceMs ?? 60_000,
  };
  return new ProcessHealth(sources);
}

describe('live', () => {
  it.each<[string, World]>([
    ['the database is away', { database: 'down' }],
    ['a consumer is rebalancing', { consumers: [consumer('rebalancing')] }],
    ['a consumer is restarting, as in an outage of the broker', { consumers: [consumer('restarting')] }],
    ['nothing has joined yet', { consumersWanted: 6 }],
  ])('stays green when %s: a restart would not help', (_name, world) => {
    expect(healthIn(world).live().ok).toBe(true);
  });

  it.each<[string, World]>([
    ['a handler never came back', { consumers: [consumer('failed')] }],
    ['a pass of a loop hangs', { loops: [loop(16 * 60_000)] }],
    ['the event loop stalls', { stallMs: 31_000 }],
  ])('is red when %s', (_name, world) => {
    expect(healthIn(world).live().ok).toBe(false);
  });
});

describe('ready', () => {
  it.each<[string, World, boolean, string]>([
    ['all is well', { consumers: [consumer('running')] }, true, 'ok'],
    ['the role has no consumers', {}, true, 'ok'],
    ['the database is away', { database: 'down', consumers: [consumer('running')] }, false, 'failed'],
    ['the database does not answer in time', { database: 'hangs' }, false, 'failed'],
    ['a consumer has never joined', { consumers: [consumer('starting')] }, false, 'starting'],
    ['the topics were not checked yet', { consumersWanted: 6 }, false, 'starting'],
  ])('when %s', async (_name, world, ok, status) => {
    expect(await healthIn(world).ready()).toMatchObject({ ok, status });
  });

  it('is degraded, not red, in a rebalance after a join', async () => {
    const world: World = { consumers: [consumer('running')] };
    const health = healthIn(world);
    await health.ready();
    world.consumers = [consumer('rebalancing')];
    expect(await health.ready()).toMatchObject({ ok: true, status: 'degraded' });
  });

  it('is red when the group is not joined again within the grace', async () => {
    const world: World = { consumers: [consumer('running')], joinGraceMs: -1 };
    const health = healthIn(world);
    await health.ready();
    world.consumers = [consumer('rebalancing')];
    expect((await health.ready()).ok).toBe(false);
  });

  it('is red from the first moment of a shutdown', async () => {
    const health = healthIn({});
    health.shutDown();
    expect(await health.ready()).toMatchObject({ ok: false, status: 'shutting-down' });
  });
});

describe('startup', () => {
  it('waits for the database and for every consumer to have joined once', async () => {
    const world: World = { consumers: [consumer('starting')] };
    const health = healthIn(world);
    expect((await health.startup()).ok).toBe(false);
    world.consumers = [consumer('running')];
    expect((await health.startup()).ok).toBe(true);
    world.consumers = [consumer('rebalancing')];
    expect((await health.startup()).ok).toBe(true);
  });
});
