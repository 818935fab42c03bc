import { ServiceError } from './service-error.ts';
import { onReach } from './signal.ts';

const ACTIONS = ['exit', 'kill', 'hang', 'throw'] as const;
export type FaultAction = (typeof ACTIONS)[number];

export interface Fault {
  readonly point: string;
  /** exit: process.exit(FAULT_EXIT_CODE); kill: SIGKILL to itself; hang: never returns; throw: `injected-fault`. */
  readonly action: FaultAction;
  /** The how-manieth time the point is reached; null: every time. */
  readonly nth: number | null;
}

export const FAULT_EXIT_CODE = 86;

const FORM = /^([a-z0-9.-]+):([a-z]+)(?::([1-9]\d{0,5}|\*))?$/;

/** Reads `point:action[:nth]`, several by comma, nth 1 if not given, `*` for every time. null when the form is wrong. */
export function parseFaults(text: string): readonly Fault[] | null {
  const faults: Fault[] = [];
  for (const part of text.split(',')) {
    const [, point, word, count = '1'] = FORM.exec(part.trim()) ?? [];
    const action = ACTIONS.find((known) => known === word);
    if (point === undefined || action === undefined) return null;
    faults.push({ point, action, nth: count === '*' ? null : Number(count) });
  }
  return faults;
}

/** Arms the faults of a child process under test; the returned function disarms them. */
export function armFaults(faults: readonly Fault[]): () => void {
  const removers = faults.map((fault) => {
    let times = 0;
    return onReach(fault.point, async () => {
      times += 1;
      if (fault.nth === null || fault.nth === times) await strike(fault);
    });
  });
  return () => {
    for (const remove of removers) remove();
  };
}

async function strike({ point, action }: Fault): Promise<void> {
  switch (action) {
    case 'exit':
      return process.exit(FAULT_EXIT_CODE);
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      // The signal may arrive a little later: nothing more must happen here.
      return await new Promise<never>(() => undefined);
    case 'hang':
      return await new Promise<never>(() => undefined);
    case 'throw':
      throw new ServiceError('injected-fault', `fault injected at ${point}`, { retryable: true });
  }
}
