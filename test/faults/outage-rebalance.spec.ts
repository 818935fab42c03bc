import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { alive, askLedger, judgeNames, requestMails, untilEnded } from '../support/outage-world.ts';
import { createWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld({
    databaseUrl: inject('databaseUrl'),
    kafkaBrokers: inject('kafkaBrokers'),
    config: { messaging: { sessionTimeoutSeconds: 6, rebalanceTimeoutSeconds: 10, chunkSize: 20 } },
  });
});
afterAll(async () => await world.tearDown());

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `n${from + index}`);

it('a consumer and relay that comes and goes, gently and by kill -9, loses nothing and doubles nothing', async () => {
  const stays = await world.start();
  await stays.ready();
  await world.peer.listen();
  let published = 0;
  const publish = async (count: number): Promise<void> => {
    await requestMails(world, names(published, published + count));
    published += count;
  };
  const ends: (number | string)[] = [];
  for (const gently of [true, false, true]) {
    const guest = await world.start(['consumer', 'relay']);
    const publishing = (async () => {
      for (let part = 0; part < 6; part++) await publish(50);
    })();
    await guest.ready();
    await publishing;
    // More work for the assignment that the guest now has part of.
    const more = publish(100);
    ends.push(await (gently ? guest.stop() : guest.kill().then(() => 'killed')));
    await more;
  }
  expect(ends).toEqual([0, 'killed', 0]);
  await untilEnded(world, published, 90_000);
  expect(await judgeNames(world, names(0, published))).toEqual({ lost: [], doubled: [], disagreed: [], unknown: [] });
  await eventually('all to be told', 60_000, () => {
    const told = world.peer.events.filter(({ type }) => type === 'einmal.operation.accepted.v1');
    return new Set(told.map(({ data }) => data['operationKey'])).size === published;
  });
  const [left] = await askLedger<{ dead: number; waiting: number }>(
    world,
    `SELECT (SELECT count(*)::integer FROM dead_letters) AS dead, (SELECT count(*)::integer FROM outbox) AS waiting`,
  );
  expect(left).toEqual({ dead: 0, waiting: 0 });
  expect(alive([stays])).toEqual([true]);
}, 200_000);
