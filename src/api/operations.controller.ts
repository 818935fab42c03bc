import { Controller, Get, HttpCode, NotFoundException, Param, Post, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hashText } from '../operations/operation-events.ts';
import { readOperation, type OperationRow } from '../operations/unknowns/read-operation.ts';
import type { DecisionOutcome } from '../operations/unknowns/resolve-unknowns.ts';
import { shownAttempts, shownSteps } from './evidence-shown.ts';
import { KnownProviders, type KnownProvider } from './known-providers.ts';
import { PeopleDecisions } from './people-decisions.ts';
import { ProblemException } from './problem.ts';
import { JsonBody, storable } from './read-request.ts';
import { operationDecision, type OperationDecision } from './schemas/decisions.schema.ts';
import { CalledBy, NeedsScope, TenantId, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

@Controller('v1/operations')
@UseGuards(TenantTokenGuard)
export class OperationsController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly known: KnownProviders,
    private readonly decisions: PeopleDecisions,
  ) {}

  /** One operation with its evidence: what was tried, what the provider said, what was done to find out, what was reported. */
  @Get(':key')
  async find(@TenantId() tenantId: string, @Param('key') operationKey: string) {
    const found = await readOperation(this.dataSource, tenantId, storable(operationKey));
    if (!found) throw noOperation();
    const { operation, tries, steps, receipts } = found;
    return {
      ...shownOperation(operation),
      overdue: isOverdue(operation, this.known.get(operation.provider ?? '')),
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
    };
  }

  /** What a person says of an unknown outcome. 409 with the present state when it is no longer what that person saw. */
  @Post(':key/resolve')
  @HttpCode(200)
  @NeedsScope('operate')
  async resolve(
    @CalledBy() caller: Caller,
    @Param('key') operationKey: string,
    @JsonBody(operationDecision) decision: OperationDecision,
  ) {
    const operation = { operationKey: storable(operationKey), claimNumber: String(decision.claimNumber) };
    const [outcome] = await this.decisions.resolve(caller, decision, [operation]);
    if (!outcome || outcome.kind === 'not-found') throw noOperation();
    const answer = presentOf(operationKey, outcome);
    switch (outcome.kind) {
      case 'resolved':
        return answer;
      case 'outdated':
        throw new ProblemException(409, whyOutdated(outcome.now.state), answer);
    }
  }
}

function noOperation(): NotFoundException {
  return new NotFoundException('no operation with this key');
}

function whyOutdated(state: string): string {
  return state === 'unknown'
    ? 'something was tried since this claim number was read; look again'
    : `the outcome is not unknown: the operation is ${state}`;
}

function presentOf(operationKey: string, { now }: Exclude<DecisionOutcome, { kind: 'not-found' }>) {
  const { operationId: id, state, claimNumber } = now;
  return { operationKey, operationId: id, state, claimNumber: Number(claimNumber) };
}

function shownOperation(row: OperationRow) {
  return {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    kind: row.kind,
    class: row.class,
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
    claimNumber: Number(row.claim_seq),
    onUnknown: row.on_unknown,
    unknownSince: row.unknown_since,
    resolvedBy: row.resolved_by,
    doubled: row.doubled,
  };
}

/** Accepted long ago, and the provider, which reports what becomes of it, has not. */
function isOverdue({ state, changed_at, now }: OperationRow, provider: KnownProvider | undefined): boolean {
  const receipt = provider?.abilities.receipt;
  if (state !== 'accepted' || receipt?.kind !== 'proves-acceptance') return false;
  return now.getTime() - changed_at.getTime() > receipt.waitMs;
}
