import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { eventually } from '../../support/eventually.ts';
import { STRUCK_LINE, type SeamFault } from '../../support/seams.ts';
import { SEAM_APPLICATION, type SeamPlace } from '../../support/seams-worker.ts';
import type { Bench } from './bench.ts';
import type { Scenario } from './scenarios.ts';

/** What the process is told. */
export interface SeamChildSettings {
  readonly place: SeamPlace;
  readonly scenario: string;
  readonly fault: SeamFault;
}

const SCRIPT = fileURLToPath(new URL('seam-process.ts', import.meta.url));

/**
 * Processes that wait to be told what to do: while one is judged the next loads the service. They end with this process at the
 * latest, since their input does.
 */
export class SeamChildren {
  #standby: Standby | null = null;

  /** Runs the worker under test as a process that kills itself at the seam. Says whether it came there. */
  async run(bench: Pick<Bench, 'rig' | 'place'>, { name }: Scenario, fault: SeamFault): Promise<boolean> {
    const { child, ended } = this.#standby ?? startChild();
    this.#standby = startChild();
    const settings: SeamChildSettings = { place: bench.place, scenario: name, fault };
    child.stdin.end(`${JSON.stringify(settings)}\n`);
    const { said, code, signal } = await ended;
    const reached = said.includes(STRUCK_LINE);
    if (reached ? signal !== 'SIGKILL' : code !== 0) {
      throw new Error(`the process ended with ${code ?? signal} (${name}, ${fault.seam})`);
    }
    await untilNoticed(bench.rig);
    return reached;
  }

  async stop(): Promise<void> {
    this.#standby?.child.stdin.end();
    await this.#standby?.ended;
    this.#standby = null;
  }
}

interface Standby {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly ended: Promise<{ readonly said: string; readonly code: number | null; readonly signal: string | null }>;
}

function startChild(): Standby {
  const child = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then((how) => {
    const [code, signal] = how as [number | null, string | null];
    return { said, code, signal };
  });
  return { child, ended };
}

/** Until the server has rolled back what the dead had open. */
async function untilNoticed(rig: DispatchRig): Promise<void> {
  await eventually('the server to notice the end', 10_000, async () => {
    const left = await rig.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 LIMIT 1`,
      [SEAM_APPLICATION],
    );
    return left.length === 0;
  });
}
