import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { conflictEvent, operationEvent, type OperationSummary } from '../operation-events.ts';
import type { OperationState } from '../operation.states.ts';
import { insertOperations, type InsertedOperation, type NewOperation } from './insert-operations.ts';

interface FoundOperation extends InsertedOperation {
  readonly operation_key: string;
  readonly payload_hash: Buffer | null;
  readonly effect_id: string | null;
  readonly attempts: number;
}

const find = loadStatement<Record<'tenants' | 'operation_ids', unknown[]>, FoundOperation>(
  import.meta.url,
  'find-operations.sql',
);

const adopt = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'kinds'
    | 'classes'
    | 'hashes'
    | 'hash_versions'
    | 'providers'
    | 'address_keys'
    | 'causations',
    unknown[]
  >,
  Pick<FoundOperation, 'tenant_id' | 'operation_id'>
>(import.meta.url, 'adopt-cancelled.sql');

/**
 * Asks the ledger for operations: a new key is queued; a known key with the same payload is answered with its present
 * state; with another payload it is a conflict, told with both hashes and never executed. Each answer is an event.
 *
 * @returns how many were new
 */
export async function requestOperations(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  requested: readonly NewOperation[],
): Promise<number> {
  const inserted = byId(await insertOperations(tx, firstOfEachKey(requested)));
  const repeated: NewOperation[] = [];
  for (const operation of requested) {
    const row = inserted.get(idOf(operation));
    if (row) outbox.push(answerNew(events, operation, row));
    else repeated.push(operation);
    // A second request for the same key in this batch is a repeat of the first.
    inserted.delete(idOf(operation));
  }
  if (repeated.length > 0) await answerRepeated(tx, outbox, events, repeated);
  return requested.length - repeated.length;
}

function answerNew(events: EventWriter, operation: NewOperation, row: InsertedOperation): OutboxEntry {
  const summary = { ...operation, state: row.state, reason: row.state_reason };
  if (row.state === 'rejected') return operationEvent(events, 'einmal.operation.rejected.v1', operation, summary);
  if (row.state === 'expired') return operationEvent(events, 'einmal.operation.expired.v1', operation, summary);
  return operationEvent(events, 'einmal.operation.queued.v1', operation, summary);
}

async function answerRepeated(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  repeated: readonly NewOperation[],
): Promise<void> {
  const ids = {
    tenants: repeated.map((each) => each.tenantId),
    operation_ids: repeated.map((each) => each.operationId),
  };
  const adopted = byId(await adoptCancelled(tx, firstOfEachKey(repeated)));
  const found = byId(await find.run(tx, ids));
  for (const operation of repeated) {
    const known = found.get(idOf(operation));
    if (!known?.payload_hash) continue;
    const summary = summaryOf(operation, known, known.payload_hash);
    const isConflict =
      !known.payload_hash.equals(operation.payloadHash) || known.operation_key !== operation.operationKey;
    if (isConflict) outbox.push(conflictEvent(events, operation, summary, operation.payloadHash));
    else if (adopted.delete(idOf(operation)))
      outbox.push(operationEvent(events, 'einmal.operation.cancelled.v1', operation, summary));
    else outbox.push(operationEvent(events, 'einmal.operation.duplicated.v1', operation, summary));
  }
}

async function adoptCancelled(tx: Transaction, operations: readonly NewOperation[]) {
  return await adopt.run(tx, {
    tenants: operations.map((each) => each.tenantId),
    operation_ids: operations.map((each) => each.operationId),
    kinds: operations.map((each) => each.kind),
    classes: operations.map((each) => each.class),
    hashes: operations.map((each) => each.payloadHash),
    hash_versions: operations.map((each) => each.hashVersion),
    providers: operations.map((each) => each.provider),
    address_keys: operations.map((each) => each.addressKey),
    causations: operations.map((each) => each.causationId),
  });
}

function summaryOf(operation: NewOperation, known: FoundOperation, payloadHash: Buffer): OperationSummary {
  const state: OperationState = known.state;
  return {
    operationKey: operation.operationKey,
    operationId: operation.operationId,
    state,
    payloadHash,
    attempt: known.attempts,
    effectId: known.effect_id,
    reason: known.state_reason,
  };
}

function idOf(operation: NewOperation): string {
  return `${operation.tenantId}/${operation.operationId}`;
}

function byId<R extends { tenant_id: string; operation_id: string }>(rows: readonly R[]): Map<string, R> {
  return new Map(rows.map((row) => [`${row.tenant_id}/${row.operation_id}`, row]));
}

function firstOfEachKey(operations: readonly NewOperation[]): NewOperation[] {
  const firsts = new Map<string, NewOperation>();
  for (const operation of operations) if (!firsts.has(idOf(operation))) firsts.set(idOf(operation), operation);
  return [...firsts.values()];
}
