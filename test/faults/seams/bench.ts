import { classifyDatabaseError } from '../../../src/database/postgres-errors.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import {
  createSeamProvider,
  seamWorkerOptions,
  type SeamPlace,
  type SeamWorkerOptions,
} from '../../support/seams-worker.ts';
import { spawnApiSink, type ApiSink } from '../../support/sinks/api-sink.ts';
import { flawsOf } from './judge.ts';
import { LedgerClock } from './ledger-clock.ts';
import { readCases } from './read-cases.ts';
import { SeamChildren } from './seam-child.ts';
import { rescueRound, workerRound, workRounds } from './work.ts';

/** A database, the sinks as judges, and somebody in good health who goes on where another stopped. */
export interface Bench {
  readonly rig: DispatchRig;
  readonly api: ApiSink;
  readonly clock: LedgerClock;
  readonly place: SeamPlace;
  readonly children: SeamChildren;
  reset(): Promise<void>;
  /** Leases are over; another worker rescues, calls and finds out until nothing changes any more. */
  othersGoOn(options: SeamWorkerOptions): Promise<void>;
  /** What is wrong now, in words. @param timesAreExact as of flawsOf */
  flaws(timesAreExact?: boolean): Promise<string[]>;
  tearDown(): Promise<void>;
}

/** @param template name of a migrated database to copy */
export async function createBench(databaseUrl: string, template: string): Promise<Bench> {
  const rig = await createDispatchRig(databaseUrl, template);
  const api = await spawnApiSink();
  const clock = new LedgerClock(rig.dataSource);
  const children = new SeamChildren();
  const { host, port } = rig.sink;
  const place = { databaseUrl: rig.database.url, smtp: { host, port }, apiUrl: api.apiUrl };
  return {
    rig,
    api,
    clock,
    place,
    children,
    reset: async () => {
      await rig.reset();
      await api.reset();
    },
    othersGoOn: async (options) => {
      const provider = createSeamProvider(place, options.provider);
      const worker = rig.worker({ ...seamWorkerOptions(options), provider });
      const rescue = rescueRound(rig, rig.dataSource, unlessContention);
      const look = workerRound(worker, unlessContention);
      await workRounds(clock, async () => {
        await clock.endLeases();
        await rescue();
        await look();
      });
    },
    flaws: async (timesAreExact) => (await readCases(rig, api)).flatMap((judged) => flawsOf(judged, timesAreExact)),
    tearDown: async () => {
      await children.stop();
      await rig.tearDown();
      await api.stop();
    },
  };
}

/** Whoever loses against another transaction looks again, as the loops of the service do; nothing else may fail here. */
function unlessContention(error: unknown): void {
  if (classifyDatabaseError(error) !== 'contention') throw error;
}
