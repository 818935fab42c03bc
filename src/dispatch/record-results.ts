import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { operationEvent, unknownEvent } from '../operations/operation-events.ts';
import { findReported } from '../operations/settle-by-evidence/find-reported.ts';
import { settleByEvidence } from '../operations/settle-by-evidence/settle-by-evidence.ts';
import { advanceSteps } from '../operations/steps/advance-steps.ts';
import { storeCheckpoints } from '../operations/steps/store-checkpoints.ts';
import type { CallOutcome } from '../providers/provider.port.ts';
import type { BackoffOptions } from '../runtime/backoff.ts';
import { reach } from '../runtime/signal.ts';
import { checkpointOf } from './checkpoint-of.ts';
import { fences, type ClaimedOperation } from './claimed-operation.ts';
import { DEFAULT_RETRY_BACKOFF, settle, type Budgets, type Settlement } from './retry-policy.ts';

/** A call that was made, and what came of it. */
export interface CallResult {
  readonly operation: ClaimedOperation;
  /** The number of this attempt, 1 for the first. */
  readonly attempt: number;
  /** The database's time of the intent. */
  readonly startedAt: Date;
  /** Of a step's request as it was rendered. */
  readonly inputHash: Buffer | null;
  readonly result: CallOutcome;
}

const record = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'claim_seqs'
    | 'outcomes'
    | 'codes'
    | 'diagnostics'
    | 'effect_ids'
    | 'states'
    | 'reasons'
    | 'delays_ms'
    | 'uncounted',
    unknown[]
  >,
  { tenant_id: string; operation_id: string }
>(import.meta.url, 'record-results.sql');

const EVENTS = {
  accepted: 'einmal.operation.accepted.v1',
  rejected: 'einmal.operation.rejected.v1',
  suppressed: 'einmal.operation.suppressed.v1',
  dead: 'einmal.operation.dead.v1',
} as const;

/**
 * Attempt, state and event of many calls in one transaction, and what receipts that were faster say. Repeating it after an
 * error is safe, and never calls a provider again. Says for each, by index, whether the claim still held; where it did not,
 * the answer is evidence all the same.
 */
export async function recordResults(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  results: readonly CallResult[],
  {
    backoff = DEFAULT_RETRY_BACKOFF,
    maxThrottles,
  }: { readonly backoff?: BackoffOptions; readonly maxThrottles: number },
): Promise<boolean[]> {
  const settled = results.map((each) =>
    settle(each.result, each.attempt, budgetsOf(each.operation, maxThrottles), backoff),
  );
  return await inTransaction(dataSource, 'record', async (tx) => {
    const rows = await record.run(tx, {
      ...fences(results.map((each) => each.operation)),
      outcomes: results.map((each) => each.result.kind),
      codes: results.map((each) => each.result.code),
      diagnostics: results.map((each) => each.result.diagnostic),
      effect_ids: results.map((each) => effectIdOf(each.result)),
      states: settled.map((each) => each.state),
      reasons: settled.map((each) => each.reason),
      delays_ms: settled.map((each) => each.delayMs),
      uncounted: settled.map((each) => (each.counts ? 0 : 1)),
    });
    await reach('dispatch.after-record');
    const held = new Set(rows.map((row) => `${row.tenant_id}/${row.operation_id}`));
    const holds = results.map(({ operation }) => held.has(keyOf(operation)));
    const entries: OutboxEntry[] = [];
    await storeCheckpoints(
      tx,
      // Also of those whose claim was lost: what was answered is known, whoever goes on from it.
      results.flatMap((each) => checkpointOf(each.operation, each.result, each.inputHash)),
    );
    const ofSteps = results.flatMap(({ operation }, index) =>
      holds[index] && operation.kind === 'steps' ? [operation] : [],
    );
    const goneOn = await advanceSteps(tx, entries, events, ofSteps);
    for (const [index, each] of results.entries()) {
      const settlement = settled[index];
      if (holds[index] && settlement && !goneOn.has(keyOf(each.operation)))
        entries.push(...eventOf(events, each, settlement));
    }
    const late = results.flatMap(({ operation }, index) => (holds[index] ? [] : [operation]));
    await settleByEvidence(tx, entries, events, [...late, ...(await findReported(tx, rows))]);
    await appendToOutbox(tx, entries, limits);
    return holds;
  });
}

function eventOf(events: EventWriter, { operation, attempt, result }: CallResult, { state, reason }: Settlement) {
  if (state === 'queued') return [];
  const origin = {
    tenantId: operation.tenant_id,
    causationId: operation.causation_id,
    traceparent: operation.traceparent,
  };
  const summary = {
    operationKey: operation.operation_key,
    operationId: operation.operation_id,
    state,
    payloadHash: operation.payload_hash,
    attempt,
    effectId: effectIdOf(result),
    campaignId: operation.campaign_id,
    reason,
  };
  if (state !== 'unknown') return [operationEvent(events, EVENTS[state], origin, summary)];
  return [unknownEvent(events, origin, summary, { unknownSince: null, needsPerson: false, evidence: [] })];
}

function budgetsOf({ max_attempts: maxAttempts, throttles }: ClaimedOperation, maxThrottles: number): Budgets {
  return { maxAttempts, throttles, maxThrottles };
}

function keyOf({ tenant_id, operation_id }: { readonly tenant_id: string; readonly operation_id: string }): string {
  return `${tenant_id}/${operation_id}`;
}

function effectIdOf(result: CallOutcome): string | null {
  return result.kind === 'accepted' ? result.effectId : null;
}
