import { Controller, Get, HttpCode, NotFoundException, Param, Post, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TenantDirectory } from '../tenants/tenant-directory.ts';
import { KnownProviders } from './known-providers.ts';
import { PeopleDecisions } from './people-decisions.ts';
import { Filters, JsonBody } from './read-request.ts';
import { readProviderStops } from './read-provider-stops.ts';
import { providerDecision, type ProviderDecision } from './schemas/decisions.schema.ts';
import { noFilters } from './schemas/filters.schema.ts';
import { CalledBy, NeedsScope, TenantId, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

/** The providers that a tenant may use; it learns of no other. */
@Controller('v1/providers')
@UseGuards(TenantTokenGuard)
export class ProvidersController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tenants: TenantDirectory,
    private readonly known: KnownProviders,
    private readonly decisions: PeopleDecisions,
  ) {}

  @Get()
  async list(@TenantId() tenantId: string, @Filters(noFilters) _filters: object) {
    const names = this.#namesOf(tenantId);
    const stops = new Map((await readProviderStops(this.dataSource, names)).map((stop) => [stop.provider, stop]));
    return {
      items: names.map((name) => {
        const { provider: _, ...stopped } = stops.get(name) ?? {};
        return { name, kind: this.known.get(name)?.kind ?? null, stopped: stops.has(name) ? stopped : null };
      }),
    };
  }

  @Post(':name/resume')
  @HttpCode(200)
  @NeedsScope('operate')
  async resume(
    @CalledBy() caller: Caller,
    @Param('name') name: string,
    @JsonBody(providerDecision) { reason }: ProviderDecision,
  ) {
    if (!this.#namesOf(caller.tenantId).includes(name)) throw new NotFoundException('no provider with this name');
    return { name, resumed: await this.decisions.resume(caller, name, reason) };
  }

  #namesOf(tenantId: string): readonly string[] {
    return this.tenants.get(tenantId)?.providers ?? [];
  }
}
