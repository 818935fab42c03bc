import { accessSync, chmodSync, constants, lstatSync, mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { StackUnavailable } from './stack-unavailable.ts';

/** The checkout. */
export const projectRoot = resolve(import.meta.dirname, '../../..');

/** PostgreSQL refuses to run as root; as root its processes get this user (`nobody` everywhere), which need not be created. */
export const unprivilegedId = 65_534;

/** Every temporary folder of the stack begins so; nothing else is ever removed. */
export const throwawayPrefix = 'einmal-stack-';

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** `$XDG_CACHE_HOME/einmal` or `~/.cache/einmal`; where the home folder cannot be written, one in the temporary folder. */
export function userCacheFolder(): string {
  const wanted = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'einmal');
  try {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    accessSync(wanted, constants.W_OK);
    return wanted;
  } catch {
    return ownFolder(join(tmpdir(), `einmal-${process.getuid?.() ?? 'user'}`), 0o700);
  }
}

/** Folders for what root shares with the unprivileged user, the best first. */
export function sharedFolders(): string[] {
  return [...new Set(['/var/cache/einmal', join(tmpdir(), 'einmal-shared'), '/tmp/einmal-shared'])];
}

/** The same for data that root keeps for the unprivileged user. */
export function sharedDataFolders(): string[] {
  return [...new Set(['/var/lib/einmal', ...sharedFolders()])];
}

/**
 * Makes the folder if need be. What others could write or have put there is refused, because programs are run from it.
 * @throws StackUnavailable
 */
export function ownFolder(path: string, mode: number): string {
  mkdirSync(path, { recursive: true, mode });
  const found = lstatSync(path);
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) {
    throw new StackUnavailable(`${path} belongs to somebody else; remove it or set TMPDIR to a folder of your own.`);
  }
  chmodSync(path, mode);
  return path;
}

/** A new empty folder in the temporary folder; as root in one that the unprivileged user can reach. */
export function throwawayFolder(kind: string): string {
  const bases = isRoot() ? [tmpdir(), '/tmp', '/var/tmp'].filter(reachableByAnyone) : [tmpdir()];
  const base = bases[0];
  if (base === undefined)
    throw new StackUnavailable('No temporary folder that every user may enter; set TMPDIR to one.');
  const folder = mkdtempSync(join(base, `${throwawayPrefix}${kind}-`));
  if (isRoot()) chmodSync(folder, 0o711);
  return folder;
}

/** True when every user may pass through the folder and all those above it (root's home folder is often closed). */
export function reachableByAnyone(path: string): boolean {
  let folder: string;
  try {
    folder = realpathSync(path);
  } catch {
    return false;
  }
  for (;;) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    const above = dirname(folder);
    if (above === folder) return true;
    folder = above;
  }
}
