import { Controller, Get, HttpCode, NotFoundException, Param, Post, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { listOperations, operationsByEffect } from '../operations/list-operations/list-operations.ts';
import { ALLOWED_FILTERS } from '../operations/list-operations/walks.ts';
import { findKey, readOperation } from '../operations/unknowns/read-operation.ts';
import type { DecisionOutcome } from '../operations/unknowns/resolve-unknowns.ts';
import { KnownProviders } from './known-providers.ts';
import { shownListed, shownOperation } from './operation-shown.ts';
import { PeopleDecisions } from './people-decisions.ts';
import { invalidRequest, namedProblem, ProblemException } from './problem.ts';
import { Filters, JsonBody, noOperation, operationKeyOf, storable } from './read-request.ts';
import { operationDecision, type OperationDecision } from './schemas/decisions.schema.ts';
import { noFilters, operationsFilters, writeListPosition, type OperationsFilters } from './schemas/filters.schema.ts';
import { CalledBy, NeedsScope, TenantId, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

@Controller('v1/operations')
@UseGuards(TenantTokenGuard)
export class OperationsController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly known: KnownProviders,
    private readonly decisions: PeopleDecisions,
  ) {}

  /** By state, campaign, provider and age, as far as an index serves them; each page costs the same whatever the ledger holds. */
  @Get()
  async list(@TenantId() tenant: string, @Filters(operationsFilters) given: OperationsFilters) {
    const { limit, after, state = null, campaign = null, provider = null, olderThanSeconds = null } = given;
    const filters = { state, campaign, provider, olderThanSeconds };
    const page = await listOperations(this.dataSource, tenant, filters, after ?? null, limit);
    switch (page.kind) {
      case 'page':
        return { items: page.items.map(shownListed), next: page.next && writeListPosition(page.next) };
      case 'not-allowed':
        throw namedProblem('filters-not-allowed', 'no index serves these filters', { allowed: ALLOWED_FILTERS });
      case 'other-list':
        throw invalidRequest([{ field: 'after', rule: 'must be the next of an earlier answer to the same filters' }]);
    }
  }

  @Get('by-id/:operationId')
  async findById(
    @TenantId() tenantId: string,
    @Param('operationId') operationId: string,
    @Filters(noFilters) _filters: object,
  ) {
    const key = UUID.test(operationId) ? await findKey(this.dataSource, tenantId, operationId.toLowerCase()) : null;
    if (key === null) throw new NotFoundException('no operation with this id');
    return await this.#shown(tenantId, key);
  }

  /** By the provider's id of what it did; of an operation of several steps, of its last one. Two providers may give the same id. */
  @Get('by-effect/:effectId')
  async findByEffect(
    @TenantId() tenantId: string,
    @Param('effectId') effectId: string,
    @Filters(noFilters) _filters: object,
  ) {
    const found = await operationsByEffect(this.dataSource, tenantId, storable(effectId));
    return { items: found.map(shownListed) };
  }

  /** One operation with its evidence: what was tried, what the provider said, what was done to find out, what was reported. */
  @Get(':key')
  async find(@TenantId() tenantId: string, @Param('key') operationKey: string, @Filters(noFilters) _filters: object) {
    return await this.#shown(tenantId, operationKeyOf(operationKey));
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
    const operation = { operationKey: operationKeyOf(operationKey), claimNumber: String(decision.claimNumber) };
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

  async #shown(tenantId: string, operationKey: string) {
    const found = await readOperation(this.dataSource, tenantId, operationKey);
    if (!found) throw noOperation();
    return shownOperation(found, this.known.get(found.operation.provider ?? ''));
  }
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
