import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineStatement, type Statement } from '../../../src/database/statement.ts';
import { errorCode } from '../../../src/runtime/service-error.ts';
import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { eventually } from '../../support/eventually.ts';

/** Text to cut, with what stands there instead; several where one clause backs up another. */
export type Cut = readonly [clause: string, instead: string];

/** A clause of a statement, and what is seen with it. Without it something else must be seen. */
export interface GuardCase {
  readonly guard: string;
  readonly cuts: readonly Cut[];
  /** Plays the scenario with the statement given and tells what came of it. */
  readonly scenario: (rig: DispatchRig, statement: AnyStatement) => Promise<unknown>;
  readonly seen: unknown;
}

export type AnyStatement = Statement<Record<string, unknown>, Record<string, unknown>>;

export interface GuardedStatement {
  /** From `src/`. */
  readonly file: string;
  readonly cases: readonly GuardCase[];
}

export function textOf(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../src/${file}`, import.meta.url)), 'utf8');
}

/** @throws Error when a clause is not in the text: a guard that was renamed must be found again, not skipped */
export function without(text: string, cuts: readonly Cut[]): string {
  let left = text;
  for (const [clause, instead] of cuts) {
    if (!left.includes(clause)) throw new Error(`not in the statement: ${clause}`);
    left = left.replaceAll(clause, instead);
  }
  return left;
}

/** What the scenario shows; a statement that fails shows its SQLSTATE. */
export async function observe(each: GuardCase, rig: DispatchRig, file: string, text: string): Promise<unknown> {
  try {
    return await each.scenario(rig, defineStatement(file, text));
  } catch (error) {
    const driverError = (error as { driverError?: unknown }).driverError;
    return `error ${errorCode(driverError ?? error)}`;
  }
}

export const WORKER = '00000000-0000-4000-8000-000000000001';
export const OTHER_WORKER = '00000000-0000-4000-8000-000000000002';

/** The fence of an operation, as a worker that holds this claim names it. */
export async function fenceOf(rig: DispatchRig, name: string, claimSeq?: string): Promise<Record<string, unknown>> {
  const { operation_id, claim_seq } = await rig.operation(name);
  return { tenants: ['demo'], operation_ids: [operation_id], claim_seqs: [claimSeq ?? claim_seq] };
}

/** Claims by hand, as claim-operations does. */
export async function claimByHand(rig: DispatchRig, name: string, leaseSeconds = 60): Promise<void> {
  await rig.query(
    `UPDATE operations SET state = 'claimed', claim_seq = claim_seq + 1, claimed_by = $2,
       lease_until = now() + make_interval(secs => $3) WHERE operation_key = $1`,
    [name, WORKER, leaseSeconds],
  );
}

/** Claims and commits the intent by hand. */
export async function callByHand(rig: DispatchRig, name: string, leaseSeconds = 60): Promise<void> {
  await claimByHand(rig, name, leaseSeconds);
  await rig.query(`UPDATE operations SET state = 'calling', attempts = attempts + 1 WHERE operation_key = $1`, [name]);
  await rig.query(
    `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker)
     SELECT tenant_id, operation_id, claim_seq, 'main', $2 FROM operations WHERE operation_key = $1`,
    [name, WORKER],
  );
}

/**
 * Runs `statement` while another transaction holds what `change` locked, and lets that commit as soon as the statement
 * waits for it, or is through.
 */
export async function whileHeld<T>(
  rig: DispatchRig,
  change: string,
  statement: () => Promise<T>,
): Promise<{ readonly result: T; readonly waited: boolean }> {
  const runner = rig.dataSource.createQueryRunner();
  await runner.connect();
  try {
    await runner.startTransaction();
    await runner.query(change);
    const running = watched(statement());
    let waited = false;
    await eventually('the statement to wait or to be through', 10_000, async () => {
      if (running.isThrough()) return true;
      waited = await somebodyWaits(rig);
      return waited;
    });
    await runner.commitTransaction();
    return { result: await running.result, waited };
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

function watched<T>(result: Promise<T>): { readonly result: Promise<T>; isThrough(): boolean } {
  let through = false;
  const end = (): void => {
    through = true;
  };
  result.then(end, end);
  return { result, isThrough: () => through };
}

async function somebodyWaits(rig: DispatchRig): Promise<boolean> {
  const rows = await rig.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1`,
  );
  return rows.length > 0;
}
