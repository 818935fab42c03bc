import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { campaignReaches, revisionOf, submitAndApprove, subscriberOf } from '../support/campaign.ts';
import { eventually } from '../support/eventually.ts';
import { alive, judgeNames } from '../support/outage-world.ts';
import { startPostgres, type PostgresHandle } from '../support/stack/stack.ts';
import { createWorld, type World } from '../support/world.ts';

let postgres: PostgresHandle;
let world: World;

beforeAll(async () => {
  postgres = await startPostgres();
  world = await createWorld({
    databaseUrl: postgres.url,
    kafkaBrokers: inject('kafkaBrokers'),
    config: { provider: { connections: 4 }, campaigns: { pageSize: 200 } },
  });
});
afterAll(async () => {
  await world.tearDown();
  await postgres.stop();
});

const SIZE = 900;

it('a campaign goes on by itself through an immediate restart and a kill -9 of PostgreSQL', async () => {
  const replicas = [await world.start(), await world.start()];
  const [first] = replicas;
  if (!first) throw new Error('no replica');
  await Promise.all(replicas.map(async (replica) => await replica.ready()));
  // Slow enough for both outages to come in the middle.
  await world.sink.script([{ phase: 'dot', action: { do: 'delay', ms: 25 } }]);
  const subscribers = Array.from({ length: SIZE }, (_, index) => subscriberOf(index));
  await world.peer.publish('einmal.subscriber.upserted.v1', subscribers);
  await eventually('the subscribers', 30_000, async () => {
    const metrics = await Promise.all(replicas.map(async ({ url }) => await (await fetch(`${url}/metrics`)).text()));
    const fresh = /^einmal_records_consumed_total\{[^}]*subscribers[^}]*outcome="fresh"[^}]*\} (\d+)$/m;
    return metrics.reduce((sum, text) => sum + Number(fresh.exec(text)?.[1] ?? 0), 0) === SIZE;
  });
  await submitAndApprove(world, revisionOf('c'));
  const sent = async (count: number): Promise<void> => {
    await eventually(`${count} mails`, 60_000, async () => (await world.sink.stats()).accepted >= count);
  };

  await sent(150);
  process.kill(postgres.pid, 'SIGQUIT');
  await postgres.restart();
  await sent(400);
  await postgres.kill();
  await postgres.restart();
  await eventually('all to end', 60_000, async () => {
    const campaign = await world.get(first, '/v1/campaigns/c').catch(() => null);
    const counts = (campaign?.['counts'] ?? {}) as Record<string, number>;
    return (counts['accepted'] ?? 0) + (counts['unknown'] ?? 0) === SIZE;
  });

  const names = subscribers.map((_, index) => `person${index}`);
  const verdict = await judgeNames(world, names, (name) => `campaign:c:sub_${name.slice('person'.length)}`);
  expect(verdict).toMatchObject({ lost: [], doubled: [], disagreed: [] });
  if (verdict.unknown.length === 0) await campaignReaches(world, first, 'c', 'completed', 20_000);
  expect(alive(replicas)).toEqual([true, true]);
  expect(await Promise.all(replicas.map(async (replica) => await replica.stop()))).toEqual([0, 0]);
}, 150_000);
