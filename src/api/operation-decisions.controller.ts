import { Controller, HttpCode, Param, Post, Res, UseGuards } from '@nestjs/common';
import type { RedriveOutcome } from '../operations/redrive-operations/redrive-operations.ts';
import { OperationDecisions } from './operation-decisions.ts';
import { namedProblem } from './problem.ts';
import type { ProblemName } from './problem-types.ts';
import { JsonBody, noOperation, operationKeyOf } from './read-request.ts';
import { RequestId } from './request-id.ts';
import {
  operationCancel,
  operationRedrive,
  operationsRedrive,
  type OperationCancel,
  type OperationRedrive,
  type OperationsRedrive,
} from './schemas/decisions.schema.ts';
import { CalledBy, NeedsScope, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

/** What people decide of operations whose outcome is known. */
@Controller('v1/operations')
@UseGuards(TenantTokenGuard)
@NeedsScope('operate')
export class OperationDecisionsController {
  constructor(private readonly decisions: OperationDecisions) {}

  /** Starts many again, in one transaction, with one outcome for each in the order of the request. */
  @Post('redrive')
  @HttpCode(200)
  async redriveMany(
    @CalledBy() caller: Caller,
    @RequestId() requestId: string,
    @JsonBody(operationsRedrive) said: OperationsRedrive,
  ) {
    const operations = said.operations.map(({ operationKey, claimNumber }) => ({
      operationKey,
      claimNumber: String(claimNumber),
    }));
    const outcomes = await this.decisions.redrive(caller, requestId, said, operations);
    return {
      items: operations.map(({ operationKey }, index) => {
        const outcome: RedriveOutcome = outcomes[index] ?? { kind: 'not-found' };
        return { operationKey, outcome: outcome.kind, ...shownOutcome(outcome) };
      }),
    };
  }

  /** Starts one again that is dead, rejected or expired. */
  @Post(':key/redrive')
  @HttpCode(200)
  async redrive(
    @CalledBy() caller: Caller,
    @RequestId() requestId: string,
    @Param('key') key: string,
    @JsonBody(operationRedrive) said: OperationRedrive,
  ) {
    const operationKey = operationKeyOf(key);
    const operation = { operationKey, claimNumber: String(said.claimNumber) };
    const [outcome] = await this.decisions.redrive(caller, requestId, said, [operation]);
    if (!outcome || outcome.kind === 'not-found') throw noOperation();
    const shown = { operationKey, ...shownOutcome(outcome) };
    if (outcome.kind === 'redriven') return { ...shown, outcome: outcome.kind };
    throw namedProblem(outcome.kind, REFUSED[outcome.kind], shown);
  }

  /** 200 when it is cancelled or was over, 202 when it is being called: then the outcome follows. */
  @Post(':key/cancel')
  @HttpCode(200)
  async cancel(
    @CalledBy() caller: Caller,
    @RequestId() requestId: string,
    @Param('key') key: string,
    @JsonBody(operationCancel) { reason }: OperationCancel,
    @Res({ passthrough: true }) response: { status(code: number): unknown },
  ) {
    const operationKey = operationKeyOf(key);
    const outcome = await this.decisions.cancel(caller, requestId, operationKey, reason);
    const { kind, operationId } = outcome;
    const told = { operationKey, operationId, outcome: kind };
    switch (kind) {
      case 'cancelled':
      case 'cancelled-before-request':
        return { ...told, state: 'cancelled' };
      case 'already-ended':
        return { ...told, state: outcome.state };
      case 'too-late':
        response.status(202);
        return { ...told, state: outcome.state, detail: 'too late, the outcome follows' };
    }
  }
}

type Refusal = Exclude<RedriveOutcome['kind'], 'redriven' | 'not-found'>;

const REFUSED: Readonly<Record<Refusal & ProblemName, string>> = {
  outdated: 'something was tried or decided since this claim number was read; look again',
  'not-redrivable': 'only what is dead, rejected or expired can be started again',
  'refused-at-arrival': 'the request can never be carried out; ask for it under a new key',
  scrubbed: 'the contents of the operation are no longer kept',
  'campaign-not-sending': 'its campaign is not sending this revision now',
  'provider-not-configured': 'its provider is none that the tenant may use now',
};

function shownOutcome(outcome: RedriveOutcome) {
  if (outcome.kind === 'not-found') return {};
  const { operationId, state, claimNumber } = outcome.now;
  const shown = { operationId, state, claimNumber: Number(claimNumber) };
  return outcome.kind === 'redriven' ? { ...shown, notBefore: outcome.notBefore, deadline: outcome.deadline } : shown;
}
