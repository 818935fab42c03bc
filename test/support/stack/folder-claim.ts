import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { pollUntil } from './poll-until.ts';
import { identityOf, isAlive, thisMachine, type Machine, type ProcessIdentity } from './process-identity.ts';
import { StackUnavailable } from './stack-unavailable.ts';

interface Claim {
  readonly owner: ProcessIdentity;
  readonly machine: Machine;
  /** Null while the owner is still starting its server. */
  readonly address: string | null;
}

export type FolderClaim =
  | { readonly kind: 'owned'; publish: (address: string) => void; release: () => void }
  | { readonly kind: 'in-use'; readonly address: string; readonly ownerPid: number };

const startsWithinMs = 120_000;

/**
 * One server per kept data folder. Whoever comes second waits until the first one's server has its address and uses that.
 * The claim of a process that is dead counts for nothing.
 * @throws StackUnavailable when the owner does not finish its start
 */
export async function claimFolder(folder: string): Promise<FolderClaim> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'owner.json');
  const claim = await pollUntil(() => tryClaim(file), { deadlineMs: startsWithinMs, everyMs: 100 });
  if (claim === null)
    throw new StackUnavailable(`${folder} is being started by another process that does not get ready.`);
  return claim;
}

function tryClaim(file: string): FolderClaim | null {
  const found = read(file);
  if (found !== null && isAlive(found.owner)) {
    if (found.address === null) return null;
    return { kind: 'in-use', address: found.address, ownerPid: found.owner.pid };
  }
  if (found !== null) rmSync(file, { force: true });
  const owner = identityOf(process.pid);
  if (owner === null || !createWith(file, { owner, machine: thisMachine(), address: null })) return null;
  return {
    kind: 'owned',
    publish: (address) => replace(file, { owner, machine: thisMachine(), address }),
    release: () => rmSync(file, { force: true }),
  };
}

function read(file: string): Claim | null {
  try {
    const claim = JSON.parse(readFileSync(file, 'utf8')) as Claim;
    return JSON.stringify(claim.machine) === JSON.stringify(thisMachine())
      ? claim
      : { ...claim, owner: { pid: 0, startedAt: '' } };
  } catch {
    return null;
  }
}

/** False when somebody else's is there already. Whole from the first moment: a link to a file that was written before. */
function createWith(file: string, claim: Claim): boolean {
  const own = `${file}.${randomUUID()}`;
  writeFileSync(own, JSON.stringify(claim));
  try {
    linkSync(own, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function replace(file: string, claim: Claim): void {
  writeFileSync(`${file}.new`, JSON.stringify(claim));
  renameSync(`${file}.new`, file);
}
