import { Controller } from '@nestjs/common';
import type { EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles } from '../messaging/inbox/handles.decorator.ts';
import { EventWriter } from '../messaging/outbox/produced-event.ts';
import { TenantDirectory } from '../tenants/tenant-directory.ts';
import { cancelOperations, type CancelRequest } from './cancel-operations/cancel-operations.ts';
import { OperationSettings } from './operation-settings.ts';
import type { OperationRequest } from './request-operations/plan-operation.ts';
import { takeRequests } from './request-operations/take-requests.ts';

@Controller()
export class OperationRequestsHandler {
  constructor(
    private readonly events: EventWriter,
    private readonly tenants: TenantDirectory,
    private readonly settings: OperationSettings,
  ) {}

  @Handles('einmal.operation.requested.v1')
  async requested({ events, tx, outbox }: EventBatch<OperationRequest>): Promise<void> {
    const desk = { events: this.events, tenants: this.tenants, settings: this.settings };
    await takeRequests(tx, outbox, desk, events);
  }

  @Handles('einmal.operation.cancel-requested.v1')
  async cancelRequested({ events, tx, outbox }: EventBatch<CancelRequest>): Promise<void> {
    await cancelOperations(tx, outbox, this.events, events);
  }
}
