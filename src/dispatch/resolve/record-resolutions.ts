import type { DataSource } from 'typeorm';
import { inTransaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { settleByEvidence } from '../../operations/settle-by-evidence/settle-by-evidence.ts';
import { settleUnknowns, type UnknownSettlement } from '../../operations/settle-unknowns/settle-unknowns.ts';
import { storeCheckpoints, type Checkpoint } from '../../operations/steps/store-checkpoints.ts';
import type { CallOutcome } from '../../providers/provider.port.ts';
import { reach } from '../../runtime/signal.ts';
import { fences } from '../claimed-operation.ts';

/** What came of one step. `replayed`: what the provider said to the key, which is also the result of an attempt. */
export interface ResolutionResult {
  readonly settlement: UnknownSettlement;
  readonly replayed: CallOutcome | null;
  /** What a replay has answered. */
  readonly checkpoints: readonly Checkpoint[];
}

const recordReplays = loadStatement<
  Record<'tenants' | 'operation_ids' | 'claim_seqs' | 'outcomes' | 'codes' | 'diagnostics' | 'effect_ids', unknown[]>,
  never
>(import.meta.url, 'record-replays.sql');

/**
 * Attempts, states, evidence and events in one transaction. Says for each, by index, whether the claim still held; where it did
 * not, what the provider said is evidence all the same.
 */
export async function recordResolutions(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  results: readonly ResolutionResult[],
): Promise<boolean[]> {
  return await inTransaction(dataSource, 'resolve', async (tx) => {
    await storeCheckpoints(
      tx,
      results.flatMap((each) => each.checkpoints),
    );
    const entries: OutboxEntry[] = [];
    const holds = await settleUnknowns(
      tx,
      entries,
      events,
      results.map(({ settlement }) => settlement),
    );
    // After the operations, as the rescue locks them.
    await recordCalls(results, async (columns) => await recordReplays.run(tx, columns));
    const late = results.filter(({ replayed }, index) => replayed !== null && !holds[index]);
    await settleByEvidence(tx, entries, events, late.map(fenceOf));
    await reach('resolve.after-record');
    await appendToOutbox(tx, entries, limits);
    return holds;
  });
}

async function recordCalls(
  results: readonly ResolutionResult[],
  write: (columns: Parameters<typeof recordReplays.run>[1]) => Promise<unknown>,
): Promise<void> {
  const calls = results.flatMap(({ settlement, replayed }) => (replayed === null ? [] : [{ settlement, replayed }]));
  if (calls.length === 0) return;
  await write({
    ...fences(calls.map(fenceOf)),
    outcomes: calls.map(({ replayed }) => replayed.kind),
    codes: calls.map(({ replayed }) => replayed.code),
    diagnostics: calls.map(({ replayed }) => replayed.diagnostic),
    effect_ids: calls.map(({ replayed }) => (replayed.kind === 'accepted' ? replayed.effectId : null)),
  });
}

function fenceOf({ settlement: { tenantId, operationId, claimNumber } }: { settlement: UnknownSettlement }) {
  return { tenant_id: tenantId, operation_id: operationId, claim_seq: claimNumber };
}
