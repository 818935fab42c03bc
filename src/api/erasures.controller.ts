import { Controller, Get, HttpCode, NotFoundException, Param, Post, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { pastContention } from '../dispatch/past-contention.ts';
import { readErasure } from '../erasure/erase-person.ts';
import { requestErasure, type Person } from '../erasure/request-erasure.ts';
import { invalidRequest } from './problem.ts';
import { Filters, JsonBody } from './read-request.ts';
import { erasureRequest, type ErasureRequest } from './schemas/decisions.schema.ts';
import { noFilters } from './schemas/filters.schema.ts';
import { CalledBy, NeedsScope, TenantId, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Erasure of a person. The subscribers are emptied at once; the ledger is gone through in pages, by any replica with maintenance. */
@Controller('v1/erasures')
@UseGuards(TenantTokenGuard)
export class ErasuresController {
  constructor(private readonly dataSource: DataSource) {}

  @Post()
  @HttpCode(202)
  @NeedsScope('operate')
  async request(@CalledBy() { tenantId, actor }: Caller, @JsonBody(erasureRequest) given: ErasureRequest) {
    const order = { tenantId, actor, person: personOf(given), reason: given.reason };
    const requested = await pastContention(() =>
      inTransaction(this.dataSource, 'request-erasure', async (tx) => await requestErasure(tx, order)),
    );
    switch (requested.kind) {
      case 'requested':
        return { erasureId: requested.erasureId, links: { self: `/v1/erasures/${requested.erasureId}` } };
      case 'not-an-address':
        throw invalidRequest([{ field: 'email', rule: requested.rule }]);
    }
  }

  /** How far it is, in rows; it names nobody. The audit has it too once it is done. */
  @Get(':erasureId')
  @NeedsScope('operate')
  async find(
    @TenantId() tenantId: string,
    @Param('erasureId') erasureId: string,
    @Filters(noFilters) _filters: object,
  ) {
    const found = UUID.test(erasureId) ? await readErasure(this.dataSource, { tenantId, erasureId }) : null;
    if (!found) throw new NotFoundException('no erasure with this id');
    return { erasureId: erasureId.toLowerCase(), ...found };
  }
}

function personOf({ email, subscriberId }: ErasureRequest): Person {
  return email === undefined ? { subscriberId: subscriberId ?? '' } : { email };
}
