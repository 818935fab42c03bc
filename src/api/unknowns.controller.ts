import { Controller, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { listUnknowns, type UnknownRow } from '../operations/unknowns/list-unknowns.ts';
import { readHistories, type OperationHistory } from '../operations/unknowns/read-histories.ts';
import type { DecisionOutcome } from '../operations/unknowns/resolve-unknowns.ts';
import { shownSteps } from './evidence-shown.ts';
import { KnownProviders, type KnownProvider } from './known-providers.ts';
import { missingEvidence } from './missing-evidence.ts';
import { PeopleDecisions } from './people-decisions.ts';
import { Filters, JsonBody } from './read-request.ts';
import { unknownsDecision, type UnknownsDecision } from './schemas/decisions.schema.ts';
import { unknownsFilters, writePosition, type UnknownsFilters } from './schemas/filters.schema.ts';
import { CalledBy, NeedsScope, TenantId, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

@Controller('v1/unknowns')
@UseGuards(TenantTokenGuard)
export class UnknownsController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly known: KnownProviders,
    private readonly decisions: PeopleDecisions,
  ) {}

  /** What is not known, oldest first, with what was tried and what may still tell. No addresses. */
  @Get()
  async list(@TenantId() tenant: string, @Filters(unknownsFilters) filters: UnknownsFilters) {
    const { limit, after, provider, campaign, olderThanSeconds } = filters;
    const rows = await listUnknowns(this.dataSource, {
      tenant,
      limit: limit + 1,
      after: after ?? null,
      provider: provider ?? null,
      campaign: campaign ?? null,
      olderThanSeconds: olderThanSeconds ?? null,
    });
    const shown = rows.slice(0, limit);
    const ids = shown.map((row) => row.operation_id);
    const historyOf = await readHistories(this.dataSource, tenant, ids);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      items: shown.map((row) => itemOf(row, historyOf(row.operation_id), this.known.get(row.provider))),
      next: last ? writePosition({ position: last.position, operationId: last.operation_id }) : null,
    };
  }

  /** One decision for many, in one transaction; the answer has one outcome for each, in the order of the request. */
  @Post('resolve')
  @HttpCode(200)
  @NeedsScope('operate')
  async resolve(@CalledBy() caller: Caller, @JsonBody(unknownsDecision) decision: UnknownsDecision) {
    const operations = decision.operations.map(({ operationKey, claimNumber }) => ({
      operationKey,
      claimNumber: String(claimNumber),
    }));
    const outcomes = await this.decisions.resolve(caller, decision, operations);
    return {
      items: operations.map(({ operationKey }, index) => {
        const outcome: DecisionOutcome = outcomes[index] ?? { kind: 'not-found' };
        return { operationKey, outcome: outcome.kind, ...(outcome.kind === 'not-found' ? {} : present(outcome)) };
      }),
    };
  }
}

function present({ now }: Exclude<DecisionOutcome, { kind: 'not-found' }>) {
  return { operationId: now.operationId, state: now.state, claimNumber: Number(now.claimNumber) };
}

function itemOf(row: UnknownRow, history: OperationHistory, provider: KnownProvider | undefined) {
  const last = history.tries.at(-1);
  // What was tried for an earlier unknown of the same operation was decided then.
  const steps = history.steps.filter(({ at }) => at >= row.unknown_since);
  return {
    operationKey: row.operation_key,
    operationId: row.operation_id,
    claimNumber: Number(row.claim_seq),
    campaignId: row.campaign_id,
    provider: row.provider,
    unknownSince: row.unknown_since,
    ageSeconds: row.age_seconds,
    onUnknown: row.on_unknown,
    needsPerson: row.needs_person,
    nextLookAt: row.next_look_at,
    reason: row.state_reason,
    attempts: {
      number: history.tries.length,
      startedAt: last?.started_at ?? null,
      outcome: last?.outcome ?? null,
      code: last?.code ?? null,
      diagnostic: last?.diagnostic ?? null,
    },
    tried: shownSteps(steps),
    missing: missingEvidence(provider, {
      now: row.now,
      unknownSince: row.unknown_since,
      attempts: history.tries.map(({ started_at: startedAt, purpose, outcome, account }) => ({
        startedAt,
        purpose,
        outcome,
        account,
      })),
      steps,
      onUnknown: row.on_unknown,
    }),
  };
}
