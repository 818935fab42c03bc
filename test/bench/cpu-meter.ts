import { readFileSync } from 'node:fs';
import { childrenOf } from '../support/stack/process-identity.ts';

/** Seconds of processor time by name of a process. */
export type CpuSeconds = Readonly<Record<string, number>>;

/** `getconf CLK_TCK`: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Processor time (user and system) of named processes and their children, from `/proc`: steadier than the clock on the wall
 * when others use the machine. Children that have ended are in their parent's account. Zero where there is no `/proc`.
 */
export class CpuMeter {
  readonly #processes: Readonly<Record<string, number>>;
  #start: CpuSeconds;

  constructor(processes: Readonly<Record<string, number>>) {
    this.#processes = processes;
    this.#start = this.#read();
  }

  restart(): void {
    this.#start = this.#read();
  }

  sinceStart(): CpuSeconds {
    const now = this.#read();
    return Object.fromEntries(Object.entries(now).map(([name, seconds]) => [name, seconds - (this.#start[name] ?? 0)]));
  }

  #read(): CpuSeconds {
    return Object.fromEntries(Object.entries(this.#processes).map(([name, pid]) => [name, secondsOf(pid)]));
  }
}

function secondsOf(pid: number): number {
  return [pid, ...childrenSafely(pid)].reduce((sum, each) => sum + ticksOf(each), 0) / TICKS_PER_SECOND;
}

function childrenSafely(pid: number): readonly number[] {
  return process.platform === 'linux' ? childrenOf(pid) : [];
}

/** Fields 14 to 17 of `/proc/<pid>/stat`: user, system, and both of the children that were waited for. */
function ticksOf(pid: number): number {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return 0;
  }
}
