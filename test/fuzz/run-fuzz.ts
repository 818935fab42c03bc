import { hash } from 'node:crypto';
import { createDataSource } from '../../src/database/data-source.ts';
import { createWorld, DEMO_TOKEN, type World } from '../support/world.ts';
import { fuzzBodies } from './fuzz-bodies.ts';
import { fuzzRecords } from './fuzz-records.ts';
import type { FuzzPart } from './fuzz-report.ts';

export interface FuzzPlan {
  readonly databaseUrl: string;
  readonly kafkaBrokers: string;
  readonly bodies: number;
  readonly records: number;
  readonly seed: number;
}

export interface FuzzResult {
  readonly bodies: FuzzPart;
  readonly records: FuzzPart;
}

const PARTITIONS = 3;
const TENANT = {
  tokens: [
    {
      name: 'demo',
      sha256: hash('sha256', DEMO_TOKEN, 'hex'),
      scopes: ['read', 'request', 'operate'],
      rate: { perSecond: 100_000, burst: 1_000_000 },
    },
  ],
  senders: ['news@einmal.example', 'example.org'],
  provider: 'main',
};

/** Both entrances of one service process, with a database and topics of its own. The seed repeats all of it. */
export async function runFuzz(plan: FuzzPlan): Promise<FuzzResult> {
  const world = await createWorld({
    databaseUrl: plan.databaseUrl,
    kafkaBrokers: plan.kafkaBrokers,
    config: { messaging: { partitions: PARTITIONS, chunkSize: 100 }, tenants: { demo: TENANT } },
  });
  const dataSource = await createDataSource({
    url: world.databaseUrl,
    poolSize: 3,
    applicationName: 'fuzz',
  }).initialize();
  try {
    const service = await world.start(['api', 'consumer']);
    await service.ready();
    const query = async <R>(sql: string, values: readonly unknown[] = []): Promise<R[]> =>
      await dataSource.query<R[]>(sql, [...values]);
    const bodies = await fuzzBodies({
      url: service.url,
      count: plan.bodies,
      seed: plan.seed,
      keysIn: async (keys) => {
        const rows = await query<{ key: string }>(
          'SELECT operation_key AS key FROM operations WHERE operation_key = ANY ($1)',
          [keys],
        );
        return new Set(rows.map(({ key }) => key));
      },
    });
    const records = await fuzzRecords({ ...placeOf(world), count: plan.records, seed: plan.seed, query });
    return { bodies, records };
  } finally {
    await dataSource.destroy();
    await world.tearDown();
  }
}

function placeOf({ kafkaBrokers, topicPrefix }: World) {
  return { kafkaBrokers, topicPrefix, partitions: PARTITIONS };
}
