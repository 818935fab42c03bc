import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createPeer } from '../support/peer.ts';
import { alive, judgeNames, requestMails, untilEnded } from '../support/outage-world.ts';
import { startKafka, type KafkaHandle } from '../support/stack/stack.ts';
import { createWorld, type World } from '../support/world.ts';

let kafka: KafkaHandle;
let world: World;

beforeAll(async () => {
  kafka = await startKafka();
  world = await createWorld({
    databaseUrl: inject('databaseUrl'),
    kafkaBrokers: kafka.brokers,
    // The broker that was killed remembers members that are gone: they are waited for that long.
    config: { messaging: { sessionTimeoutSeconds: 6, rebalanceTimeoutSeconds: 10 } },
  });
});
afterAll(async () => {
  await world.tearDown();
  await kafka.stop();
});

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `n${from + index}`);

it('requests go through a restart and a kill -9 of the broker: each mailed once, each told', async () => {
  const replicas = [await world.start(), await world.start()];
  await Promise.all(replicas.map(async (replica) => await replica.ready()));

  await requestMails(world, names(0, 200));
  await kafka.restart();
  await requestMails(world, names(200, 400));
  await kafka.kill();
  const during = requestMails(world, names(400, 600));
  await kafka.restart();
  await during;
  await untilEnded(world, 600, 90_000);

  expect(await judgeNames(world, names(0, 600))).toEqual({ lost: [], doubled: [], disagreed: [], unknown: [] });
  // A reader that has seen no outage: the judge must not be a client that gave up.
  const reader = await createPeer(kafka.brokers, world.topicPrefix);
  await reader.listen();
  const told = (): Map<string, Set<string>> => {
    const byKey = new Map<string, Set<string>>();
    for (const event of reader.events) {
      if (event.type !== 'einmal.operation.accepted.v1') continue;
      const key = String(event.data['operationKey']);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(event.id));
    }
    return byKey;
  };
  await eventually('all to be told', 60_000, () => told().size === 600);
  // Again is allowed, but with the same id.
  expect([...told().values()].every((ids) => ids.size === 1)).toBe(true);
  await reader.close();
  expect(alive(replicas)).toEqual([true, true]);
}, 200_000);
