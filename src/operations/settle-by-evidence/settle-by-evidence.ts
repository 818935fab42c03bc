import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { advanceSteps, type StateOfNext } from '../steps/advance-steps.ts';
import { operationEvent, resolvedEvent } from '../operation-events.ts';
import type { OperationState } from '../operation.states.ts';
import {
  judgeEvidence,
  type AttemptEvidence,
  type ReceiptEvidence,
  type ReceiptType,
  type Verdict,
} from './judge-evidence.ts';
import { readEvidence } from './read-evidence.ts';

export interface OperationId {
  readonly tenant_id: string;
  readonly operation_id: string;
}

interface LockedRow extends OperationId {
  readonly operation_key: string;
  readonly claim_seq: string;
  readonly kind: 'email' | 'http' | 'steps';
  readonly state: OperationState;
  readonly provider: string;
  readonly payload_hash: Buffer;
  readonly attempts: number;
  readonly effect_id: string | null;
  readonly doubled: boolean;
  readonly unknown_since: Date | null;
  readonly campaign_id: string | null;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
}

type Ids = { tenants: string[]; operation_ids: string[] };

const lock = loadStatement<Ids, LockedRow>(import.meta.url, 'lock-operations.sql');
const readAttempts = loadStatement<
  Ids,
  OperationId & {
    purpose: 'deliver' | 'replay';
    started_at: Date;
    outcome: string | null;
    effect_id: string | null;
    code: string | null;
  }
>(import.meta.url, 'read-attempts.sql');
const readReceipts = loadStatement<
  Ids & { providers: string[] },
  OperationId & { receipt_id: string; type: ReceiptType; occurred_at: Date; effect_id: string | null }
>(import.meta.url, 'read-receipts.sql');
const settle = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'claim_seqs'
    | 'states'
    | 'new_states'
    | 'reasons'
    | 'effect_ids'
    | 'resolved_bys'
    | 'doubleds'
    | 'outcomes'
    | 'codes',
    unknown[]
  >,
  OperationId
>(import.meta.url, 'settle-by-evidence.sql');

/** With one of these a step is done. */
const ACCEPTED: ReadonlySet<OperationState> = new Set(['accepted', 'delivered']);

interface Judged {
  readonly row: LockedRow;
  readonly verdict: Verdict;
}

export interface Settled {
  readonly resolved: number;
  readonly doubled: number;
}

/**
 * Lets what is in the ledger about these operations take effect: attempts whose answer came late, and receipts. Whoever stores
 * evidence calls it afterwards in the same transaction; so both arrivals try the same transition, in whatever order they come.
 */
export async function settleByEvidence(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  operations: readonly OperationId[],
): Promise<Settled> {
  const rows = operations.length === 0 ? [] : await lock.run(tx, idsOf(distinct(operations)));
  if (rows.length === 0) return { resolved: 0, doubled: 0 };
  const judged = await judge(tx, rows);
  if (judged.length === 0) return { resolved: 0, doubled: 0 };
  await settle.run(tx, {
    ...idsOf(judged.map(({ row }) => row)),
    claim_seqs: judged.map(({ row }) => row.claim_seq),
    states: judged.map(({ row }) => row.state),
    new_states: judged.map(({ verdict }) => verdict.state),
    reasons: judged.map(({ verdict }) => reasonOf(verdict)),
    effect_ids: judged.map(({ verdict }) => verdict.effectId),
    resolved_bys: judged.map(({ verdict }) => verdict.resolvedBy),
    doubleds: judged.map(({ verdict }) => verdict.doubled),
    outcomes: judged.map(({ verdict }) => verdict.outcome),
    codes: judged.map(({ verdict }) => verdict.code),
  });
  const told = await readEvidence(
    tx,
    judged.filter(({ verdict }) => isResolution(verdict)).map(({ row }) => row),
  );
  const accepted = judged.filter(({ row, verdict }) => row.kind === 'steps' && ACCEPTED.has(verdict.state));
  const later: OutboxEntry[] = [];
  const goneOn = await advanceSteps(
    tx,
    later,
    events,
    accepted.map(({ row }) => row),
  );
  for (const each of judged) outbox.push(...eventsOf(events, each, told, goneOn.get(keyOf(each.row))));
  outbox.push(...later);
  return {
    resolved: judged.filter(({ verdict }) => verdict.resolvedBy !== null).length,
    doubled: judged.filter(({ row, verdict }) => verdict.doubled && !row.doubled).length,
  };
}

async function judge(tx: Transaction, rows: readonly LockedRow[]): Promise<Judged[]> {
  const attempts = byOperation(await readAttempts.run(tx, idsOf(rows)), (row): AttemptEvidence => ({
    purpose: row.purpose,
    startedAt: row.started_at,
    outcome: row.outcome,
    effectId: row.effect_id,
    code: row.code,
  }));
  const providers = rows.map((row) => row.provider);
  const receipts = byOperation(await readReceipts.run(tx, { ...idsOf(rows), providers }), (row): ReceiptEvidence => ({
    receiptId: row.receipt_id,
    type: row.type,
    occurredAt: row.occurred_at,
    effectId: row.effect_id,
  }));
  return rows.flatMap((row) => {
    const operation = { state: row.state, effectId: row.effect_id, doubled: row.doubled };
    const verdict = judgeEvidence(operation, attempts.get(keyOf(row)) ?? [], receipts.get(keyOf(row)) ?? []);
    return verdict ? [{ row, verdict }] : [];
  });
}

function isResolution(verdict: Verdict): boolean {
  return verdict.resolvedBy !== null || verdict.outcome === 'doubled';
}

function eventsOf(
  events: EventWriter,
  { row, verdict }: Judged,
  told: Awaited<ReturnType<typeof readEvidence>>,
  goneOn: StateOfNext | undefined,
): OutboxEntry[] {
  const origin = { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent };
  const summary = {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    // With a further step the operation as a whole is not accepted.
    state: goneOn ?? verdict.state,
    payloadHash: row.payload_hash,
    attempt: row.attempts,
    effectId: verdict.effectId,
    campaignId: row.campaign_id,
  };
  const entries: OutboxEntry[] = [];
  if (isResolution(verdict)) {
    entries.push(
      resolvedEvent(events, origin, summary, {
        resolvedBy: verdict.resolvedBy ?? 'receipt',
        unknownSince: row.unknown_since,
        doubled: verdict.doubled,
        evidence: told.get(keyOf(row)) ?? [],
      }),
    );
  }
  if (verdict.state !== row.state && isReported(verdict.state) && !goneOn) {
    const reason = reasonOf(verdict);
    entries.push(operationEvent(events, `einmal.operation.${verdict.state}.v1`, origin, { ...summary, reason }));
  }
  return entries;
}

function reasonOf({ resolvedBy, outcome }: Verdict): string {
  return `${resolvedBy ?? 'receipt'}: ${outcome}`;
}

/** These have their own event, whether or not the outcome was known before. */
const REPORTED = ['delivered', 'bounced', 'complained', 'rejected', 'suppressed'] as const;

function isReported(state: OperationState): state is (typeof REPORTED)[number] {
  return (REPORTED as readonly OperationState[]).includes(state);
}

function byOperation<R extends OperationId, E>(rows: readonly R[], pick: (row: R) => E): Map<string, E[]> {
  const found = new Map<string, E[]>();
  for (const row of rows) {
    const list = found.get(keyOf(row));
    if (list) list.push(pick(row));
    else found.set(keyOf(row), [pick(row)]);
  }
  return found;
}

function distinct(operations: readonly OperationId[]): OperationId[] {
  return [...new Map(operations.map((each) => [keyOf(each), each])).values()];
}

function keyOf({ tenant_id, operation_id }: OperationId): string {
  return `${tenant_id}/${operation_id}`;
}

function idsOf(operations: readonly OperationId[]): Ids {
  return {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  };
}
