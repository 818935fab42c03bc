import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import { noteConflicts } from '../conflicts/note-conflicts.ts';
import { answerEvent } from './answer-event.ts';
import { insertOperations, type InsertedOperation, type NewOperation } from './insert-operations.ts';
import type { AskedOperation, RequestAnswer } from './request-answer.ts';

interface FoundOperation extends InsertedOperation {
  readonly operation_key: string;
  readonly payload_hash: Buffer | null;
  readonly effect_id: string | null;
  readonly attempts: number;
  readonly created_at: Date;
  readonly refused_at_arrival: boolean;
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

/** The reason of a refusal whose request may have been carried out and forgotten. */
export const TOO_OLD = 'too-old-to-deduplicate';
const NONE: ReadonlySet<NewOperation> = new Set();

/**
 * Asks the ledger for operations: a new key is queued; a known key with the same payload is answered with its present
 * state; with another payload it is a conflict, told with both hashes and never executed. A key that the ledger
 * had and forgot is refused as {@link TOO_OLD}. Each answer is an event too.
 *
 * @param tooOld those whose keys may have been forgotten: answered when the key is known, and never new
 * @returns one answer for each request, by index
 */
export async function requestOperations(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  requested: readonly NewOperation[],
  tooOld: ReadonlySet<NewOperation> = NONE,
): Promise<RequestAnswer[]> {
  const young = requested.filter((operation) => !tooOld.has(operation));
  const inserted = byId(await insertOperations(tx, firstOfEachKey(young)));
  const fresh = requested.map((operation) => {
    if (tooOld.has(operation)) return null;
    const row = inserted.get(idOf(operation));
    // A second request for the same key in this batch is a repeat of the first.
    inserted.delete(idOf(operation));
    return row ? newAnswer(operation, row) : null;
  });
  const repeated = requested.filter((_, index) => !fresh[index]);
  const again = repeated.length > 0 ? await repeatedAnswers(tx, repeated) : [];
  const answers = fresh.map((answer) => answer ?? taken(again));
  for (const [index, operation] of requested.entries()) {
    const answer = answers[index];
    if (answer) outbox.push(answerEvent(events, operation, answer));
  }
  await noteConflicts(tx, answers);
  return answers;
}

function taken(answers: RequestAnswer[]): RequestAnswer {
  const answer = answers.shift();
  if (!answer) throw new ServiceError('no-answer', 'a request was given no answer', { retryable: false });
  return answer;
}

function newAnswer(operation: NewOperation, row: InsertedOperation): RequestAnswer {
  const { tenantId, operationId, operationKey, payloadHash } = operation;
  const { state, state_reason: reason } = row;
  return {
    kind: state === 'rejected' || state === 'expired' ? state : 'queued',
    operation: {
      tenantId,
      operationId,
      operationKey,
      payloadHash,
      state,
      reason,
      attempts: 0,
      effectId: null,
      firstSeenAt: null,
    },
  };
}

async function repeatedAnswers(tx: Transaction, repeated: readonly NewOperation[]): Promise<RequestAnswer[]> {
  const adopted = byId(await adoptCancelled(tx, firstOfEachKey(repeated)));
  const found = byId(
    await find.run(tx, {
      tenants: repeated.map((each) => each.tenantId),
      operation_ids: repeated.map((each) => each.operationId),
    }),
  );
  return repeated.map((operation) => {
    const known = found.get(idOf(operation));
    if (!known) return refusedAsTooOld(operation);
    // A row without a payload has been adopted by the first that asked, so there is one.
    if (!known.payload_hash)
      throw new ServiceError('no-payload', 'the key is taken by no request', { retryable: true });
    const told = askedOperation(operation, known, known.payload_hash);
    const isConflict =
      !known.payload_hash.equals(operation.payloadHash) || known.operation_key !== operation.operationKey;
    if (isConflict) return { kind: 'conflicted', operation: told, refused: operation.payloadHash };
    if (adopted.delete(idOf(operation))) return { kind: 'cancelled', operation: told };
    return { kind: 'duplicated', operation: told, refusedAtArrival: known.refused_at_arrival };
  });
}

function refusedAsTooOld({ tenantId, operationId, operationKey, payloadHash }: NewOperation): RequestAnswer {
  const asked = { tenantId, operationId, operationKey, payloadHash };
  const nothing = { attempts: 0, effectId: null, firstSeenAt: null };
  return { kind: 'too-old', operation: { ...asked, state: 'rejected', reason: TOO_OLD, ...nothing } };
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

function askedOperation(operation: NewOperation, known: FoundOperation, payloadHash: Buffer): AskedOperation {
  return {
    tenantId: operation.tenantId,
    operationId: operation.operationId,
    operationKey: operation.operationKey,
    payloadHash,
    state: known.state,
    reason: known.state_reason,
    attempts: known.attempts,
    effectId: known.effect_id,
    firstSeenAt: known.created_at,
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
