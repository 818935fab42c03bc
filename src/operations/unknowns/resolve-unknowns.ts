import type { DataSource } from 'typeorm';
import { writeAudit, type AuditEntry } from '../../audit/write-audit.ts';
import { inTransaction, type Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import { scrubAddresses } from '../../mail/scrub-addresses.ts';
import { appendToOutbox, type OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { operationId } from '../operation-id.ts';
import type { OperationState } from '../operation.states.ts';
import { settleUnknowns, type UnknownSettlement } from '../settle-unknowns/settle-unknowns.ts';

export interface Decision {
  readonly tenantId: string;
  /** The name of the token. */
  readonly actor: string;
  /** `sent`: it is accepted. `not-sent`: it may be sent again. `wait`: it stays unknown and is looked at again at `until`. */
  readonly as: 'sent' | 'not-sent' | 'wait';
  readonly reason: string;
  /** Of `wait`, and null otherwise: at most 30 days ahead of the database's clock. */
  readonly until: Date | null;
}

/** `claimNumber`: as whoever decides has seen it. */
export interface DecidedOperation {
  readonly operationKey: string;
  readonly claimNumber: string;
}

export type DecisionOutcome =
  | { readonly kind: 'resolved'; readonly now: PresentOperation }
  /** It is no longer unknown, or something was tried since; nothing is written. */
  | { readonly kind: 'outdated'; readonly now: PresentOperation }
  | { readonly kind: 'not-found' };

export interface PresentOperation {
  readonly operationId: string;
  readonly state: OperationState;
  readonly claimNumber: string;
}

export type Decided =
  /** One outcome for each operation, by index. */
  | { readonly kind: 'decided'; readonly outcomes: readonly DecisionOutcome[] }
  /** `until` is not after the database's time, or too long after it. */
  | { readonly kind: 'until-past' }
  | { readonly kind: 'until-too-far' };

interface LockedRow {
  readonly operation_id: string;
  readonly operation_key: string;
  readonly state: OperationState;
  readonly claim_seq: string;
  readonly now: Date;
}

export const LONGEST_WAIT_DAYS = 30;
const DAY_MS = 86_400_000;
/** The limit of `reason` in the contracts, less the word before it. */
const REASON_LENGTH = 980;

const lock = loadStatement<Record<'tenants' | 'operation_ids' | 'operation_keys', string[]>, LockedRow>(
  import.meta.url,
  'lock-operations.sql',
);

/**
 * What a person says of unknown outcomes, with audit and events, in one transaction. Each one is fenced by the claim number
 * that the person has seen. Keys must be distinct.
 */
export async function resolveUnknowns(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  decision: Decision,
  operations: readonly DecidedOperation[],
): Promise<Decided> {
  return await inTransaction(dataSource, 'resolve-by-person', async (tx) => {
    const rows = await lockByKey(tx, decision.tenantId, operations);
    const wrong = untilFlaw(decision, rows.values().next().value?.now);
    if (wrong) return { kind: wrong };
    const said = { ...decision, reason: scrubAddresses(decision.reason, [], REASON_LENGTH) };
    const found = operations.flatMap(({ operationKey, claimNumber }) => {
      const row = rows.get(operationKey);
      return row ? [{ row, claimNumber }] : [];
    });
    const settlements = found.map(({ row, claimNumber }) => settlementOf(said, row.operation_id, claimNumber));
    const entries: OutboxEntry[] = [];
    const holds = await settleUnknowns(tx, entries, events, settlements);
    const resolved = new Set(found.filter((_, index) => holds[index]).map(({ row }) => row));
    // Read again: a decision about a step takes the operation to its next one.
    const now = await lockByKey(tx, decision.tenantId, operations);
    await writeAudit(
      tx,
      [...resolved].map((row) => auditOf(said, row, now.get(row.operation_key) ?? row)),
    );
    await appendToOutbox(tx, entries, limits);
    return {
      kind: 'decided',
      outcomes: operations.map(({ operationKey: key }) => outcomeOf(rows.get(key), now.get(key), resolved)),
    };
  });
}

async function lockByKey(
  tx: Transaction,
  tenant: string,
  operations: readonly DecidedOperation[],
): Promise<Map<string, LockedRow>> {
  const rows = await lock.run(tx, {
    tenants: operations.map(() => tenant),
    operation_ids: operations.map(({ operationKey }) => operationId(tenant, operationKey)),
    operation_keys: operations.map(({ operationKey }) => operationKey),
  });
  return new Map(rows.map((row) => [row.operation_key, row]));
}

/** Nothing to compare with when no operation was found, and then nothing is written. */
function untilFlaw({ until }: Decision, now: Date | undefined): 'until-past' | 'until-too-far' | null {
  if (until === null || now === undefined) return null;
  const ahead = until.getTime() - now.getTime();
  if (ahead <= 0) return 'until-past';
  return ahead > LONGEST_WAIT_DAYS * DAY_MS ? 'until-too-far' : null;
}

function settlementOf(decision: Decision, id: string, claimNumber: string): UnknownSettlement {
  const { tenantId, as, until, actor } = decision;
  return {
    tenantId,
    operationId: id,
    claimNumber,
    next: nextOf(decision),
    evidence: {
      step: 'person',
      outcome: as,
      code: until?.toISOString() ?? null,
      diagnostic: decision.reason,
      decidedBy: actor,
    },
  };
}

function nextOf({ as, until, reason: words }: Decision): UnknownSettlement['next'] {
  const reason = `person: ${words}`;
  switch (as) {
    case 'sent':
      return { state: 'accepted', resolvedBy: 'person', reason, effectId: null };
    case 'not-sent':
      return { state: 'queued', resolvedBy: 'person', reason, effectId: null };
    case 'wait':
      return { state: 'unknown', lookAt: until ?? 'now', reason };
  }
}

function auditOf(decision: Decision, row: LockedRow, now: LockedRow): AuditEntry {
  const { tenantId, actor, reason, until } = decision;
  return {
    tenantId,
    actor,
    action: 'operation.resolve',
    object: row.operation_key,
    reason,
    before: { state: row.state, claimNumber: Number(row.claim_seq) },
    after: { state: now.state, ...(until ? { until: until.toISOString() } : {}) },
  };
}

function outcomeOf(
  row: LockedRow | undefined,
  now: LockedRow | undefined,
  resolved: ReadonlySet<LockedRow>,
): DecisionOutcome {
  if (!row || !now) return { kind: 'not-found' };
  const present = { operationId: now.operation_id, state: now.state, claimNumber: now.claim_seq };
  return { kind: resolved.has(row) ? 'resolved' : 'outdated', now: present };
}
