import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process by its number and its start: numbers are given out again, the pair is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Linux: clock ticks since boot (`/proc/<pid>/stat`, field 22). Elsewhere: what `ps -o lstart=` prints. */
  readonly startedAt: string;
}

/** Where a process number means something: one boot of one host, and on Linux one namespace of process numbers. */
export interface Machine {
  readonly host: string;
  readonly boot: string;
  readonly pidNamespace: string;
}

const onLinux = process.platform === 'linux';

/** Null when there is no such process or it has ended and only waits to be reaped. */
export function identityOf(pid: number): ProcessIdentity | null {
  const startedAt = onLinux ? startFromProc(pid) : startFromPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt;
}

export function thisMachine(): Machine {
  if (!onLinux) return { host: hostname(), boot: '', pidNamespace: '' };
  return {
    host: hostname(),
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  };
}

/** Numbers of the processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  if (!onLinux) return childrenFromPs(pid);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => statFields(candidate)?.[1] === String(pid));
}

/** Fields of `/proc/<pid>/stat` from the third (state) on: the second is the program's name and may hold blanks and brackets. */
function statFields(pid: number): string[] | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function startFromProc(pid: number): string | null {
  const fields = statFields(pid);
  const state = fields?.[0];
  return state === undefined || state === 'Z' || state === 'X' ? null : (fields?.[19] ?? null);
}

function startFromPs(pid: number): string | null {
  const line = runPs(['-o', 'stat=,lstart=', '-p', String(pid)]).trim();
  const [state, ...start] = line.split(/\s+/);
  return state === undefined || state === '' || state.startsWith('Z') ? null : start.join(' ');
}

function childrenFromPs(pid: number): number[] {
  return runPs(['-A', '-o', 'pid=,ppid='])
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

function runPs(parameters: string[]): string {
  try {
    return execFileSync('ps', parameters, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}
