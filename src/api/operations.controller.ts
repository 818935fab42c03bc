import { Controller, Get, NotFoundException, Param, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hashText } from '../operations/operation-events.ts';
import { operationId } from '../operations/operation-id.ts';
import { AttemptEntity, OperationEntity } from '../operations/operation.entity.ts';
import { storable } from './campaigns.controller.ts';
import { TenantId, TenantTokenGuard } from './tenant-token.guard.ts';

@Controller('v1/operations')
@UseGuards(TenantTokenGuard)
export class OperationsController {
  constructor(private readonly dataSource: DataSource) {}

  /** One operation with its attempts, which are the evidence of what was tried and what the provider said. */
  @Get(':key')
  async find(@TenantId() tenantId: string, @Param('key') operationKey: string) {
    const id = operationId(tenantId, storable(operationKey));
    const operation = await this.dataSource.getRepository(OperationEntity).findOneBy({ tenantId, operationId: id });
    if (!operation || operation.operationKey !== operationKey)
      throw new NotFoundException('no operation with this key');
    const attempts = await this.dataSource
      .getRepository(AttemptEntity)
      .find({ where: { tenantId, operationId: id }, order: { claimNumber: 'ASC' } });
    return {
      operationKey,
      operationId: id,
      kind: operation.kind,
      class: operation.class,
      campaignId: operation.campaignId,
      state: operation.state,
      reason: operation.stateReason,
      payloadHash: operation.payloadHash && hashText(operation.payloadHash),
      provider: operation.provider,
      effectId: operation.effectId,
      notBefore: operation.notBefore,
      deadline: operation.deadline,
      createdAt: operation.createdAt,
      changedAt: operation.changedAt,
      attempts: attempts.map(({ claimNumber, provider, startedAt, endedAt, outcome, code, diagnostic, effectId }) => ({
        attemptId: `${id}.${claimNumber}`,
        claimNumber: Number(claimNumber),
        provider,
        startedAt,
        endedAt,
        outcome,
        code,
        diagnostic,
        effectId,
      })),
    };
  }
}
