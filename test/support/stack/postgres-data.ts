import { execFile } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  chmodSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isRoot, ownFolder, reachableByAnyone, sharedDataFolders, unprivilegedId } from './folders.ts';
import { StackUnavailable } from './stack-unavailable.ts';

const run = promisify(execFile);

/** The user that PostgreSQL's processes get; null means ours. */
export function postgresUser(): { uid: number; gid: number } | null {
  return isRoot() ? { uid: unprivilegedId, gid: unprivilegedId } : null;
}

/** What PostgreSQL's programs get of our environment: nothing that could set their defaults (PGDATA, PGOPTIONS, LC_*). */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' };
}

/**
 * Where kept data can be: `wanted`, unless we are root and the unprivileged user cannot get there; then a new folder elsewhere, to which
 * a link in `wanted` leads, so that removing `wanted` also forgets the data.
 * @throws StackUnavailable
 */
export function keptDataHome(wanted: string, elsewhere: readonly string[] = sharedDataFolders()): string {
  if (!isRoot() || reachableByAnyone(wanted)) return wanted;
  const link = join(wanted, 'elsewhere');
  if (existsSync(link)) return realpathSync(link);
  const home = newHomeElsewhere(elsewhere);
  rmSync(link, { force: true });
  symlinkSync(home, link);
  return home;
}

/**
 * Initialises a cluster in `home/data` unless there is one. Made under another name and renamed: one cut in half does not look finished.
 * The locale is PostgreSQL's own C.UTF-8, the same on every system.
 * @param durable false skips the final fsync of all files, for data that is thrown away
 * @returns the data folder's real path
 */
export async function ensureCluster(binaries: string, home: string, durable: boolean): Promise<string> {
  const data = join(home, 'data');
  if (existsSync(data)) return realpathSync(data);
  const partial = join(home, 'data.partial');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  const user = postgresUser();
  if (user !== null) chownSync(partial, user.uid, user.gid);
  const parameters = ['-D', partial, '-U', 'einmal', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  parameters.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', ...(durable ? [] : ['--no-sync']));
  try {
    await run(join(binaries, 'bin', 'initdb'), parameters, { cwd: partial, env: postgresEnvironment(), ...user });
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw new StackUnavailable(`initdb failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  renameSync(partial, data);
  return realpathSync(data);
}

function newHomeElsewhere(candidates: readonly string[]): string {
  for (const candidate of candidates) {
    try {
      const home = mkdtempSync(join(ownFolder(candidate, 0o755), 'postgres-'));
      chmodSync(home, 0o711);
      if (reachableByAnyone(home)) return home;
    } catch {
      // The next one may do.
    }
  }
  throw new StackUnavailable(
    `Running as root, and none of ${candidates.join(', ')} can hold PostgreSQL's data for an ordinary user.`,
  );
}
