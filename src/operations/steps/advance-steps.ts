import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { operationEvent } from '../operation-events.ts';
import { queueApproved } from '../queue-approved/queue-approved.ts';
import type { FrozenStep, FrozenSteps, StepResults } from './frozen-steps.ts';
import { readResultsOf } from './read-results.ts';
import { renderStep } from './render-step.ts';
import { storeCheckpoints, type Checkpoint } from './store-checkpoints.ts';

interface Id {
  readonly tenant_id: string;
  readonly operation_id: string;
}

interface AcceptedRow extends Id {
  readonly operation_key: string;
  readonly claim_seq: string;
  readonly step: number;
  readonly payload_hash: Buffer;
  readonly effect_id: string | null;
  readonly created_at: Date;
  readonly causation_id: string | null;
  readonly traceparent: string | null;
  readonly provider: string;
  /** null: erased or scrubbed meanwhile. */
  readonly request: FrozenSteps | null;
  /** How many the operation has. */
  readonly steps: number;
}

const readAccepted = loadStatement<{ tenants: string[]; operation_ids: string[] }, AcceptedRow>(
  import.meta.url,
  'read-accepted.sql',
);
const advance = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'steps'
    | 'states'
    | 'reasons'
    | 'providers'
    | 'address_keys'
    | 'approval_objects'
    | 'approval_revisions'
    | 'approval_hashes',
    unknown[]
  >,
  Id
>(import.meta.url, 'advance-steps.sql');

/** The state of an operation whose step was accepted and that has further ones. */
export type StateOfNext = 'queued' | 'awaiting-approval' | 'rejected';

/** The next step of an operation, and how it begins. */
interface NextStep {
  readonly row: AcceptedRow;
  readonly step: Pick<FrozenStep, 'provider' | 'addressKey' | 'approval'>;
  readonly state: StateOfNext;
  readonly reason: string | null;
  readonly approvalHash: Buffer | null;
}

/**
 * Takes operations whose step was accepted in this transaction to their next one, after the checkpoint. Whoever accepts calls
 * it: the record of a call, a resolution, a receipt. Operations of other kinds, and last steps, stay as they are.
 *
 * @param outbox takes what is to be told after the acceptance itself
 * @returns the state of those that went on, by `tenant/operationId`: they are not accepted as a whole
 */
export async function advanceSteps(
  tx: Transaction,
  outbox: OutboxEntry[],
  events: EventWriter,
  operations: readonly Id[],
): Promise<ReadonlyMap<string, StateOfNext>> {
  const rows = operations.length === 0 ? [] : await readAccepted.run(tx, idsOf(operations));
  if (rows.length === 0) return new Map();
  await storeCheckpoints(
    tx,
    rows.flatMap((row) => checkpointOf(row)),
  );
  const results = await readResultsOf(tx, rows);
  const next = rows.flatMap((row) => nextOf(row, results.get(keyOf(row)) ?? {}));
  if (next.length === 0) return new Map();
  await advance.run(tx, columnsOf(next));
  const queued = await queueApproved(tx, next.flatMap(objectOf));
  for (const each of next) outbox.push(...eventsOf(events, each));
  const states = new Map(next.map(({ row, state }) => [keyOf(row), state]));
  for (const key of queued) if (states.has(key)) states.set(key, 'queued');
  return states;
}

/** Where the call has left none: its answer is not known, only that it was accepted. */
function checkpointOf(row: AcceptedRow): Checkpoint[] {
  const step = row.request?.steps[row.step];
  if (!step) return [];
  return [
    {
      tenantId: row.tenant_id,
      operationId: row.operation_id,
      step: row.step,
      name: step.name,
      version: step.version,
      inputHash: null,
      result: null,
      effectId: row.effect_id,
      claimNumber: row.claim_seq,
    },
  ];
}

function nextOf(row: AcceptedRow, results: StepResults): NextStep[] {
  if (row.request === null) return row.step + 1 < row.steps ? [withoutRequest(row)] : [];
  const step = row.request.steps[row.step + 1];
  if (!step) return [];
  if (!step.approval) return [{ row, step, state: 'queued', reason: null, approvalHash: null }];
  const rendered = renderStep(step, results, row.created_at);
  // Nobody can approve what cannot be made.
  if (!rendered.ok) return [{ row, step, state: 'rejected', reason: rendered.rule, approvalHash: null }];
  return [{ row, step, state: 'awaiting-approval', reason: null, approvalHash: rendered.inputHash }];
}

function withoutRequest(row: AcceptedRow): NextStep {
  const reason = 'the request of the next step is no longer there';
  return { row, step: { provider: row.provider, addressKey: null }, state: 'rejected', reason, approvalHash: null };
}

function columnsOf(next: readonly NextStep[]) {
  return {
    ...idsOf(next.map(({ row }) => row)),
    steps: next.map(({ row }) => row.step),
    states: next.map(({ state }) => state),
    reasons: next.map(({ reason }) => reason),
    providers: next.map(({ step }) => step.provider),
    address_keys: next.map(({ step }) => step.addressKey),
    approval_objects: next.map(({ step }) => step.approval?.object ?? null),
    approval_revisions: next.map(({ step }) => step.approval?.revision ?? null),
    approval_hashes: next.map(({ approvalHash }) => approvalHash),
  };
}

function objectOf({ row, step, state }: NextStep) {
  return state === 'awaiting-approval' && step.approval
    ? [{ tenantId: row.tenant_id, object: step.approval.object }]
    : [];
}

function eventsOf(events: EventWriter, { row, state, reason }: NextStep): OutboxEntry[] {
  if (state !== 'rejected') return [];
  const origin = { tenantId: row.tenant_id, causationId: row.causation_id, traceparent: row.traceparent };
  return [
    operationEvent(events, 'einmal.operation.rejected.v1', origin, {
      operationKey: row.operation_key,
      operationId: row.operation_id,
      state,
      payloadHash: row.payload_hash,
      reason,
    }),
  ];
}

function keyOf({ tenant_id, operation_id }: Id): string {
  return `${tenant_id}/${operation_id}`;
}

function idsOf(operations: readonly Id[]) {
  return {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  };
}
