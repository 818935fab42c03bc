import { Controller } from '@nestjs/common';
import type { EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles } from '../messaging/inbox/handles.decorator.ts';
import { EventWriter } from '../messaging/outbox/produced-event.ts';
import { ServiceError } from '../runtime/service-error.ts';
import { TenantDirectory } from '../tenants/tenant-directory.ts';
import { cancelOperations, type CancelRequest } from './cancel-operations/cancel-operations.ts';
import { queueApproved } from './queue-approved/queue-approved.ts';
import { OperationSettings } from './operation-settings.ts';
import type { ApprovedObject } from '../approvals/lock-objects.ts';
import type { NewOperation } from './request-operations/insert-operations.ts';
import { planOperation, type OperationRequest } from './request-operations/plan-operation.ts';
import { requestOperations } from './request-operations/request-operations.ts';

@Controller()
export class OperationRequestsHandler {
  constructor(
    private readonly events: EventWriter,
    private readonly tenants: TenantDirectory,
    private readonly settings: OperationSettings,
  ) {}

  @Handles('einmal.operation.requested.v1')
  async requested({ events, tx, outbox }: EventBatch<OperationRequest>): Promise<void> {
    const planned = events.map((event) => {
      const tenant = this.tenants.get(event.tenantId);
      if (!tenant) throw new ServiceError('unknown-tenant', 'the tenant is not configured', { retryable: false });
      return planOperation(event, tenant, this.settings);
    });
    await requestOperations(tx, outbox, this.events, planned);
    await queueApproved(tx, approvedObjects(planned));
  }

  @Handles('einmal.operation.cancel-requested.v1')
  async cancelRequested({ events, tx, outbox }: EventBatch<CancelRequest>): Promise<void> {
    await cancelOperations(tx, outbox, this.events, events);
  }
}

function approvedObjects(planned: readonly NewOperation[]): ApprovedObject[] {
  return planned.flatMap(({ tenantId, approval }) => (approval ? [{ tenantId, object: approval.object }] : []));
}
