import { Client } from 'pg';
import { operationId } from '../../src/operations/operation-id.ts';
import { requestOf } from './dispatch-rig.ts';
import { eventually } from './eventually.ts';
import type { ServiceProcess } from './service.ts';
import type { World } from './world.ts';

/** One that connects anew each time: the database under test goes away. */
export async function askLedger<R>(world: World, sql: string, values: readonly unknown[] = []): Promise<R[]> {
  const client = new Client({ connectionString: world.databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql, [...values])).rows as R[];
  } finally {
    await client.end();
  }
}

/** Publishes operation requests with ids of their own, again with the same ids where the broker did not take them. */
export async function requestMails(world: World, names: readonly string[]): Promise<void> {
  const ids = names.map((name) => `request-${name}`);
  const data = names.map((name) => ({ operationKey: name, kind: 'email' as const, request: requestOf(name) }));
  await eventually(`the broker to take ${names.length} requests`, 90_000, async () => {
    try {
      await world.peer.publish('einmal.operation.requested.v1', data, { ids });
      return true;
    } catch {
      return false;
    }
  });
}

export interface Verdict {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Accepted in the ledger without a mail at the sink, or the other way round. */
  readonly disagreed: readonly string[];
  readonly unknown: readonly string[];
}

/** Compares the ledger with the sink, for the operations of these names (operation key NAME, to NAME@example.com). */
export async function judgeNames(
  world: World,
  names: readonly string[],
  keyOf: (name: string) => string = (name) => name,
): Promise<Verdict> {
  const rows = await askLedger<{ id: string; state: string }>(
    world,
    'SELECT operation_id AS id, state FROM operations',
  );
  const states = new Map(rows.map((row) => [row.id, row.state]));
  const effects = await world.sink.recipients();
  const seen = names.map((name) => ({
    name,
    state: states.get(operationId('demo', keyOf(name))),
    count: effects.get(`${name}@example.com`) ?? 0,
  }));
  const pick = (test: (each: (typeof seen)[number]) => boolean): string[] =>
    seen.filter(test).map((each) => `${each.name}: ${each.state ?? 'not there'}, ${each.count}`);
  return {
    lost: pick(({ state, count }) => count === 0 && state !== 'unknown'),
    doubled: pick(({ count }) => count > 1),
    disagreed: pick(({ state, count }) => (state === 'accepted') !== (count === 1) && state !== 'unknown'),
    unknown: pick(({ state }) => state === 'unknown'),
  };
}

/** Waits until that many operations are in a state that ends, or unknown. Does not mind if the database is away. */
export async function untilEnded(world: World, count: number, deadlineMs: number): Promise<void> {
  await eventually(`${count} operations to end`, deadlineMs, async () => {
    try {
      const [row] = await askLedger<{ n: number }>(
        world,
        `SELECT count(*)::integer AS n FROM operations WHERE state NOT IN ('queued', 'claimed', 'calling')`,
      );
      return row?.n === count;
    } catch {
      return false;
    }
  });
}

export function alive(services: readonly ServiceProcess[]): boolean[] {
  return services.map((service) => !service.hasEnded());
}
