import { Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { ApprovalDecisions } from './approval-decisions.ts';
import { JsonBody } from './read-request.ts';
import { RequestId } from './request-id.ts';
import {
  approvalGrant,
  approvalWithdrawal,
  type ApprovalGrant,
  type ApprovalWithdrawal,
} from './schemas/decisions.schema.ts';
import { CalledBy, NeedsScope, TenantTokenGuard, type Caller } from './tenant-token.guard.ts';

/** Approvals of campaigns and operations; each may come before what it speaks of. */
@Controller('v1/approvals')
@UseGuards(TenantTokenGuard)
@NeedsScope('operate')
export class ApprovalsController {
  constructor(private readonly decisions: ApprovalDecisions) {}

  @Post()
  @HttpCode(200)
  async grant(
    @CalledBy() caller: Caller,
    @RequestId() requestId: string,
    @JsonBody(approvalGrant) grant: ApprovalGrant,
  ) {
    return await this.decisions.grant(caller, requestId, grant);
  }

  @Post('withdraw')
  @HttpCode(200)
  async withdraw(
    @CalledBy() caller: Caller,
    @RequestId() requestId: string,
    @JsonBody(approvalWithdrawal) withdrawal: ApprovalWithdrawal,
  ) {
    return await this.decisions.withdraw(caller, requestId, withdrawal);
  }
}
