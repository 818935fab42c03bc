import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { operationEvent, resolvedEvent, unknownEvent, type EvidenceStep } from '../operation-events.ts';
import { advanceSteps, type StateOfNext } from '../steps/advance-steps.ts';
import { readEvidence } from '../settle-by-evidence/read-evidence.ts';

/** What comes of one look at an unknown outcome. */
export interface UnknownSettlement {
  readonly tenantId: string;
  readonly operationId: string;
  /** As seen by whoever decides; with another one by now nothing is written. */
  readonly claimNumber: string;
  readonly next: SettledAs | StillUnknown;
  /** What was tried or said just now. */
  readonly evidence: NewEvidence | null;
}

export interface SettledAs {
  readonly state: 'accepted' | 'delivered' | 'bounced' | 'complained' | 'rejected' | 'queued';
  readonly resolvedBy: 'replay' | 'lookup' | 'person' | 'policy';
  readonly reason: string;
  readonly effectId: string | null;
  readonly policy?: 'resend' | 'assume-sent';
}

export interface StillUnknown {
  readonly state: 'unknown';
  /** When to look again; `never`: a person has to decide, which is published. */
  readonly lookAt: Date | 'now' | 'never';
  readonly reason: string | null;
}

export interface NewEvidence {
  readonly step: EvidenceStep['step'];
  readonly outcome: string;
  readonly code: string | null;
  readonly diagnostic: string | null;
  readonly decidedBy?: string;
}

interface SettledRow {
  readonly tenant_id: string;
  readonly operation_id: string;
  readonly operation_key: string;
  readonly kind: 'email' | 'http' | 'steps';
  readonly state: 'accepted' | 'delivered' | 'bounced' | 'complained' | 'rejected' | 'queued' | 'unknown';
  readonly state_reason: string | null;
  readonly claim_seq: string;
  readonly payload_hash: Buffer;
  readonly attempts: number;
  readonly effect_id: string | null;
  readonly unknown_since: Date | null;
  readonly doubled: boolean;
  readonly campaign_id: string | null;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
}

const settle = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'claim_seqs'
    | 'states'
    | 'reasons'
    | 'resolved_bys'
    | 'effect_ids'
    | 'resolve_ats'
    | 'steps'
    | 'outcomes'
    | 'codes'
    | 'diagnostics'
    | 'decided_bys',
    unknown[]
  >,
  SettledRow
>(import.meta.url, 'settle-unknowns.sql');

/**
 * Writes what was found out or decided, with the events, in the caller's transaction. Says for each, by index, whether the
 * claim number still held and the outcome was still unknown.
 */
export async function settleUnknowns(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  settlements: readonly UnknownSettlement[],
): Promise<boolean[]> {
  if (settlements.length === 0) return [];
  const rows = await settle.run(tx, columnsOf(settlements));
  const byId = new Map(rows.map((row) => [`${row.tenant_id}/${row.operation_id}`, row]));
  const told = settlements.filter(({ next }) => next.state !== 'unknown' || next.lookAt === 'never');
  const evidence = await readEvidence(
    tx,
    told.map(({ tenantId, operationId }) => ({ tenant_id: tenantId, operation_id: operationId })),
  );
  const accepted = rows.filter(
    ({ kind, state }) => kind === 'steps' && (state === 'accepted' || state === 'delivered'),
  );
  const later: OutboxEntry[] = [];
  const goneOn = await advanceSteps(tx, later, events, accepted);
  for (const settlement of told) {
    const key = `${settlement.tenantId}/${settlement.operationId}`;
    const row = byId.get(key);
    if (row) outbox.push(...eventsOf(events, row, settlement.next, evidence.get(key) ?? [], goneOn.get(key)));
  }
  outbox.push(...later);
  return settlements.map(({ tenantId, operationId }) => byId.has(`${tenantId}/${operationId}`));
}

function columnsOf(settlements: readonly UnknownSettlement[]) {
  const settled = settlements.map(({ next }) => (next.state === 'unknown' ? null : next));
  return {
    tenants: settlements.map((each) => each.tenantId),
    operation_ids: settlements.map((each) => each.operationId),
    claim_seqs: settlements.map((each) => each.claimNumber),
    states: settlements.map(({ next }) => next.state),
    reasons: settlements.map(({ next }) => next.reason),
    resolved_bys: settled.map((next) => next?.resolvedBy ?? null),
    effect_ids: settled.map((next) => next?.effectId ?? null),
    resolve_ats: settlements.map(({ next }) => (next.state === 'unknown' ? timeOf(next.lookAt) : '-infinity')),
    steps: settlements.map(({ evidence }) => evidence?.step ?? null),
    outcomes: settlements.map(({ evidence }) => evidence?.outcome ?? null),
    codes: settlements.map(({ evidence }) => evidence?.code ?? null),
    diagnostics: settlements.map(({ evidence }) => evidence?.diagnostic ?? null),
    decided_bys: settlements.map(({ evidence }) => evidence?.decidedBy ?? null),
  };
}

function timeOf(lookAt: StillUnknown['lookAt']): string {
  if (lookAt === 'now') return '-infinity';
  return lookAt === 'never' ? 'infinity' : lookAt.toISOString();
}

function eventsOf(
  events: EventWriter,
  row: SettledRow,
  next: SettledAs | StillUnknown,
  evidence: readonly EvidenceStep[],
  goneOn: StateOfNext | undefined,
): OutboxEntry[] {
  const origin = { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent };
  const summary = {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    // With a further step the operation as a whole is not accepted.
    state: goneOn ?? row.state,
    payloadHash: row.payload_hash,
    attempt: row.attempts,
    effectId: row.effect_id,
    campaignId: row.campaign_id,
    reason: row.state_reason,
  };
  const unknownSince = row.unknown_since;
  if (next.state === 'unknown') {
    return [unknownEvent(events, origin, summary, { unknownSince, needsPerson: true, evidence })];
  }
  const { resolvedBy, policy } = next;
  const resolved = resolvedEvent(events, origin, summary, {
    resolvedBy,
    ...(policy ? { policy } : {}),
    unknownSince,
    doubled: row.doubled,
    evidence,
  });
  // States that a provider reports have their own event, whoever asked for the report.
  return next.state === 'accepted' || next.state === 'queued' || goneOn
    ? [resolved]
    : [resolved, operationEvent(events, `einmal.operation.${next.state}.v1`, origin, summary)];
}
