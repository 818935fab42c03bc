import type { DataSource } from 'typeorm';
import { rescueExpired } from '../../../src/dispatch/rescue-expired.ts';
import type { Worker, WorkerPlace } from '../../support/dispatch-worker.ts';
import { pollUntil } from '../../support/stack/poll-until.ts';
import type { LedgerClock } from './ledger-clock.ts';

/** More rounds than any road has steps. */
const ROUNDS = 60;
/** So many without a change: whoever could do something is held up or dead. */
const IDLE_ROUNDS = 3;
const PATIENCE_MS = 60_000;

export type Round = () => Promise<void>;

/** Rounds until nobody has anything to do, or until nothing changes any more. @throws Error when it never ends */
export async function workRounds(clock: LedgerClock, round: Round): Promise<void> {
  let before = '';
  let idle = 0;
  for (let done = 0; done < ROUNDS; done++) {
    await round();
    if (await clock.isQuiet()) return;
    const now = await clock.trace();
    idle = now === before ? idle + 1 : 0;
    if (idle === IDLE_ROUNDS) return;
    before = now;
    await clock.pass();
  }
  throw new Error(`the ledger was not quiet after ${ROUNDS} rounds: ${await clock.trace()}`);
}

/** One look at everything, each step to its end. Errors of a pass are told to `failed`, as the loops of the service log them. */
export function workerRound(worker: Worker, failed: (error: unknown) => void): Round {
  return async () => {
    await worker.pipeline.runOnce().catch(failed);
    await untilIdle(worker);
    await worker.resolver.runOnce().catch(failed);
    await worker.resolver.settled();
  };
}

/** A pass of the rescue by these connections. */
export function rescueRound(
  { events, outbox }: Pick<WorkerPlace, 'events' | 'outbox'>,
  dataSource: DataSource,
  failed: (error: unknown) => void,
): Round {
  return async () =>
    void (await rescueExpired(dataSource, events, outbox, { limit: 500, maxCrashes: 10 }).catch(failed));
}

/** Until none of its operations is under way. */
export async function untilIdle({ lane }: Worker): Promise<void> {
  const idle = await pollUntil(() => (lane.underWay === 0 ? true : null), { deadlineMs: PATIENCE_MS, everyMs: 2 });
  if (idle === null) throw new Error('an operation is under way for too long');
}
