import { hashText } from '../operations/operation-events.ts';
import type { ListedOperation } from '../operations/list-operations/list-operations.ts';
import type { ShownCheckpoint } from '../operations/steps/list-checkpoints.ts';
import type { OperationRow, OperationWithEvidence } from '../operations/unknowns/read-operation.ts';
import { shownAttempts, shownSteps } from './evidence-shown.ts';
import type { KnownProvider } from './known-providers.ts';
import { resultBody } from './request-answers.ts';

/** One operation with its evidence, as people are shown it. No addresses. */
export function shownOperation(found: OperationWithEvidence, provider: KnownProvider | undefined) {
  const { operation, tries, steps, receipts, checkpoints } = found;
  return {
    ...ledgerRow(operation),
    approval: shownApproval(operation),
    steps: shownPlan(operation, checkpoints),
    ...resultBody(checkpoints),
    overdue: isOverdue(operation, provider),
    attempts: shownAttempts(tries),
    evidence: shownSteps(steps),
    receipts: receipts.map(
      ({ provider, receipt_id: receiptId, type, occurred_at: occurredAt, effect_id: effectId }) => ({
        provider,
        receiptId,
        type,
        occurredAt,
        effectId,
      }),
    ),
    links: linksOf(operation),
  };
}

/** An entry of a list, with its last attempt. */
export function shownListed(row: ListedOperation) {
  return {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    kind: row.kind,
    class: row.class,
    campaignId: row.campaign_id,
    provider: row.provider,
    state: row.state,
    reason: row.state_reason,
    claimNumber: Number(row.claim_seq),
    attemptsCounted: row.attempts,
    redriven: row.redriven,
    effectId: row.effect_id,
    notBefore: row.not_before,
    deadline: row.deadline,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    scrubbedAt: row.scrubbed_at,
    lastAttempt:
      row.started_at === null
        ? null
        : {
            startedAt: row.started_at,
            endedAt: row.ended_at,
            outcome: row.outcome,
            code: row.code,
            diagnostic: row.diagnostic,
          },
  };
}

function ledgerRow(row: OperationRow) {
  return {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    kind: row.kind,
    class: row.class,
    priority: row.priority,
    campaignId: row.campaign_id,
    state: row.state,
    reason: row.state_reason,
    payloadHash: row.payload_hash && hashText(row.payload_hash),
    provider: row.provider,
    effectId: row.effect_id,
    notBefore: row.not_before,
    deadline: row.deadline,
    createdAt: row.created_at,
    changedAt: row.changed_at,
    scrubbedAt: row.scrubbed_at,
    claimNumber: Number(row.claim_seq),
    attemptsCounted: row.attempts,
    maxAttempts: row.max_attempts,
    throttles: row.throttles,
    crashes: row.crashes,
    redriven: row.redriven,
    onUnknown: row.on_unknown,
    unknownSince: row.unknown_since,
    resolvedBy: row.resolved_by,
    doubled: row.doubled,
  };
}

/** What has to be approved before the operation, or its present step, goes on. */
function shownApproval(row: OperationRow) {
  if (row.approval_object === null) return null;
  return {
    object: row.approval_object,
    revision: Number(row.approval_revision),
    hash: row.approval_hash && hashText(row.approval_hash),
    granted: row.approval_granted,
  };
}

/** Of an operation of several steps; after its contents were removed, those that were done. Null of a single effect. */
function shownPlan(row: OperationRow, checkpoints: readonly ShownCheckpoint[]) {
  if (row.kind !== 'steps') return null;
  const done = new Map(checkpoints.map((each) => [each.step, each]));
  const planned = row.steps ?? checkpoints.map(({ name, version }) => ({ name, version, kind: null }));
  return planned.map(({ name, version, kind }, index) => {
    const checkpoint = done.get(index);
    return {
      name,
      version,
      kind,
      state: checkpoint ? 'done' : index === row.step ? 'now' : 'later',
      inputHash: checkpoint?.input_hash ? hashText(checkpoint.input_hash) : null,
      result: checkpoint?.result ?? null,
      effectId: checkpoint?.effect_id ?? null,
      acceptedAt: checkpoint?.accepted_at ?? null,
    };
  });
}

/** Where to look further. A key may hold anything, so the operation is named by its id. */
function linksOf(row: OperationRow) {
  return {
    self: `/v1/operations/by-id/${row.operation_id}`,
    campaign: row.campaign_id === null ? null : `/v1/campaigns/${encodeURIComponent(row.campaign_id)}`,
    audit: `/v1/audit?object=${encodeURIComponent(row.operation_key)}`,
  };
}

/** Accepted long ago, and the provider, which reports what becomes of it, has not. */
function isOverdue({ state, changed_at, now }: OperationRow, provider: KnownProvider | undefined): boolean {
  const receipt = provider?.abilities.receipt;
  if (state !== 'accepted' || receipt?.kind !== 'proves-acceptance') return false;
  return now.getTime() - changed_at.getTime() > receipt.waitMs;
}
