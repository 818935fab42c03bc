import { Controller, Get, NotFoundException, Param, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CampaignEntity } from '../campaigns/campaign.entity.ts';
import { countExclusions } from '../campaigns/count-exclusions.ts';
import { countOperations } from '../campaigns/count-operations.ts';
import { storable } from './read-request.ts';
import { TenantId, TenantTokenGuard } from './tenant-token.guard.ts';

@Controller('v1/campaigns')
@UseGuards(TenantTokenGuard)
export class CampaignsController {
  constructor(private readonly dataSource: DataSource) {}

  /** State and counts; the counts by state add up to the audience once it is materialised. */
  @Get(':id')
  async find(@TenantId() tenantId: string, @Param('id') campaignId: string) {
    const campaign = await this.dataSource
      .getRepository(CampaignEntity)
      .findOneBy({ tenantId, campaignId: storable(campaignId) });
    if (!campaign) throw new NotFoundException('no campaign with this id');
    return {
      campaignId,
      revision: Number(campaign.revision),
      contentHash: campaign.contentHash,
      state: campaign.state,
      reason: campaign.stateReason,
      approvedBy: campaign.approvedBy,
      scheduledFor: campaign.scheduledFor,
      audience: campaign.audience === null ? null : Number(campaign.audience),
      counts: await countOperations(this.dataSource, tenantId, campaignId),
      leftOut: await countExclusions(this.dataSource, tenantId, campaignId),
      createdAt: campaign.createdAt,
      startedAt: campaign.startedAt,
      endedAt: campaign.endedAt,
    };
  }
}
