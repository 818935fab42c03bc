import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { throwawayFolder, throwawayPrefix, userCacheFolder } from './folders.ts';
import { pollUntil } from './poll-until.ts';
import {
  childrenOf,
  identityOf,
  isAlive,
  thisMachine,
  type Machine,
  type ProcessIdentity,
} from './process-identity.ts';

/** What the next start needs to know about a server process or a temporary folder if the process that started it is gone. */
export interface ChildRecord {
  readonly kind: string;
  readonly machine: Machine;
  readonly parent: ProcessIdentity;
  /** Null in the record of a folder, and while the server does not run. */
  readonly child: ProcessIdentity | null;
  /** Asked for first; SIGKILL follows when the process does not go. */
  readonly signal: NodeJS.Signals;
  /** To be removed; null in the record of a process. */
  readonly throwawayFolder: string | null;
}

export interface KeptRecord {
  /** The process was started (or started again). */
  setChild(child: ProcessIdentity | null): void;
  remove(): void;
}

const goneWithinMs = 15_000;

/** Writes the record of a server or folder that this process is about to make: one file each, so that no two writers share one. */
export function keepRecord(about: Pick<ChildRecord, 'kind' | 'signal' | 'throwawayFolder'>): KeptRecord {
  const parent = identityOf(process.pid);
  if (parent === null) throw new Error('This process is not to be found among the running ones.');
  const file = join(recordsFolder(), `${about.kind}-${randomUUID()}.json`);
  const write = (child: ProcessIdentity | null): void => {
    const record: ChildRecord = { ...about, machine: thisMachine(), parent, child };
    writeFileSync(`${file}.new`, JSON.stringify(record));
    renameSync(`${file}.new`, file);
  };
  write(null);
  return { setChild: write, remove: () => rmSync(file, { force: true }) };
}

/**
 * Ends the servers whose starter is dead and removes their throwaway data. Goes by recorded number and start time only: a process
 * that merely has a recorded number, or the right name, is left alone.
 */
export async function cleanOrphans(log: (line: string) => void): Promise<void> {
  const left = readdirSync(recordsFolder())
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(recordsFolder(), name))
    .map((file) => ({ file, record: readRecord(file) }))
    .flatMap(({ file, record }) => (record !== null && mayClean(record) ? [{ file, record }] : []));
  for (const { record } of left) {
    if (record.child !== null && onThisMachine(record)) await endOrphan(record, record.child, log);
  }
  for (const { file, record } of left) {
    if (record.throwawayFolder !== null) removeThrowaway(record.throwawayFolder);
    rmSync(file, { force: true });
  }
}

const folderRecords = new Map<string, KeptRecord>();

/** A new temporary folder that goes at {@link removeThrowaway} or, when this process is killed before, at the next start. */
export function newThrowaway(kind: string): string {
  const folder = throwawayFolder(kind);
  folderRecords.set(folder, keepRecord({ kind: `${kind}-folder`, signal: 'SIGKILL', throwawayFolder: folder }));
  return folder;
}

/** Removes a throwaway folder; anything that is not one of ours by its name is left alone. */
export function removeThrowaway(folder: string): void {
  if (!basename(folder).startsWith(throwawayPrefix)) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  folderRecords.get(folder)?.remove();
  folderRecords.delete(folder);
}

function recordsFolder(): string {
  const folder = join(userCacheFolder(), 'servers');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function readRecord(file: string): ChildRecord | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ChildRecord;
  } catch {
    return null;
  }
}

function onThisMachine(record: ChildRecord): boolean {
  const here = thisMachine();
  const { host, boot, pidNamespace } = record.machine;
  return host === here.host && boot === here.boot && pidNamespace === here.pidNamespace;
}

/** A home folder may be shared by hosts and containers: only what this one can judge. After a reboot everything is dead. */
function mayClean(record: ChildRecord): boolean {
  if (onThisMachine(record)) return !isAlive(record.parent);
  const here = thisMachine();
  return record.machine.host === here.host && record.machine.boot !== here.boot;
}

async function endOrphan(record: ChildRecord, child: ProcessIdentity, log: (line: string) => void): Promise<void> {
  if (!isAlive(child)) return;
  log(`ending ${record.kind} (process ${child.pid}), left behind by process ${record.parent.pid}, which is gone`);
  const descendants = childrenOf(child.pid).flatMap((pid) => identityOf(pid) ?? []);
  signalIfAlive(child, record.signal);
  await pollUntil(() => (isAlive(child) ? null : true), { deadlineMs: goneWithinMs });
  for (const identity of [child, ...descendants]) signalIfAlive(identity, 'SIGKILL');
  await pollUntil(() => (isAlive(child) ? null : true), { deadlineMs: goneWithinMs });
}

export function signalIfAlive(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the look and the signal, which is what was wanted.
  }
}
