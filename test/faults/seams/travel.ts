import type { DataSource } from 'typeorm';
import type { SeamLine } from '../../support/seams.ts';
import { createSeamWorker, type SeamPlace } from '../../support/seams-worker.ts';
import { LedgerClock } from './ledger-clock.ts';
import type { Scenario } from './scenarios.ts';
import { rescueRound, workerRound, workRounds } from './work.ts';

/**
 * The road of the worker under test through a scenario, with the waits of the line; in the process that calls. Ends when the
 * ledger is quiet, or when the worker can do no more.
 *
 * @param others connections that are not the worker's
 */
export async function travel(place: SeamPlace, others: DataSource, scenario: Scenario, line: SeamLine): Promise<void> {
  const seam = await createSeamWorker(place, scenario, line);
  const disarm = scenario.meanwhile?.({ place: seam.place, others });
  const rescue = rescueRound(seam.place, seam.dataSource, ignore);
  const look = workerRound(seam.worker, ignore);
  try {
    line.begin();
    await workRounds(new LedgerClock(others), async () => {
      if (scenario.rescues) await rescue();
      await look();
    });
  } finally {
    disarm?.();
    await seam.close();
  }
}

/** The loops of the service log it and look again. */
function ignore(): void {}
