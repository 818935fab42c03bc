import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { storableReason } from '../messaging/storable-text.ts';
import { operationEvent } from '../operations/operation-events.ts';
import { queueApproved } from '../operations/queue-approved/queue-approved.ts';
import { reach } from '../runtime/signal.ts';
import { fences, type ClaimedOperation } from './claimed-operation.ts';
import type { IntentOutcome } from './commit-intents.ts';

/** Why an operation was claimed and not called. */
export type NotCalled =
  Exclude<IntentOutcome['kind'], 'committed' | 'claim-lost'> | 'not-composed' | 'no-time-left' | 'stopping';

/** How a claim ends without a call. `queued` and `awaiting-approval` give it back, the others are final. */
export interface ClaimEnd {
  readonly operation: ClaimedOperation;
  readonly state: 'queued' | 'awaiting-approval' | 'suppressed' | 'expired' | 'rejected' | 'dead';
  readonly reason: string | null;
}

const end = loadStatement<
  { tenants: string[]; operation_ids: string[]; claim_seqs: string[]; states: string[]; reasons: (string | null)[] },
  { tenant_id: string; operation_id: string }
>(import.meta.url, 'end-claims.sql');

const EVENTS = {
  suppressed: 'einmal.operation.suppressed.v1',
  expired: 'einmal.operation.expired.v1',
  rejected: 'einmal.operation.rejected.v1',
  dead: 'einmal.operation.dead.v1',
} as const;

/** Ends claims without a call, with their events, in one transaction. Says for each, by index, whether the claim still held. */
export async function endClaims(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  ends: readonly ClaimEnd[],
): Promise<boolean[]> {
  return await inTransaction(dataSource, 'end-claims', async (tx) => {
    const rows = await end.run(tx, {
      ...fences(ends.map((each) => each.operation)),
      states: ends.map((each) => each.state),
      reasons: ends.map(({ reason }) => (reason === null ? null : storableReason(reason))),
    });
    const held = new Set(rows.map((row) => `${row.tenant_id}/${row.operation_id}`));
    const holds = ends.map(({ operation }) => held.has(`${operation.tenant_id}/${operation.operation_id}`));
    // An approval may have come since the last look, when the operation was not yet one that waits for it.
    const waiting = ends.filter((each, index) => holds[index] && each.state === 'awaiting-approval');
    await queueApproved(
      tx,
      waiting.flatMap(({ operation }) => objectOf(operation)),
    );
    const entries = ends.flatMap((each, index) => (holds[index] ? eventOf(events, each) : []));
    await reach('dispatch.before-append-end');
    await appendToOutbox(tx, entries, limits);
    return holds;
  });
}

export function claimEnd(operation: ClaimedOperation, why: NotCalled, reason: string | null): ClaimEnd {
  switch (why) {
    case 'suppressed':
      return { operation, state: 'suppressed', reason: reason ?? 'suppressed' };
    case 'expired':
      return { operation, state: 'expired', reason: 'the deadline passed before the call' };
    case 'not-composed':
      return { operation, state: 'rejected', reason: reason ?? 'the mail could not be composed' };
    case 'not-approved':
      return { operation, state: 'awaiting-approval', reason: null };
    case 'definition-changed':
      return {
        operation,
        state: 'dead',
        reason: 'definition-changed: what would be sent is not what the first attempt sent',
      };
    case 'held-back':
    case 'no-time-left':
    case 'stopping':
      return { operation, state: 'queued', reason: null };
  }
}

function objectOf({ tenant_id: tenantId, approval_object: object }: ClaimedOperation) {
  return object === null ? [] : [{ tenantId, object }];
}

function eventOf(events: EventWriter, { operation, state, reason }: ClaimEnd) {
  if (state === 'queued' || state === 'awaiting-approval') return [];
  const origin = {
    tenantId: operation.tenant_id,
    causationId: operation.causation_id,
    traceparent: operation.traceparent,
  };
  return [
    operationEvent(events, EVENTS[state], origin, {
      operationKey: operation.operation_key,
      operationId: operation.operation_id,
      state,
      payloadHash: operation.payload_hash,
      attempt: operation.attempts,
      campaignId: operation.campaign_id,
      reason,
    }),
  ];
}
