import { Controller } from '@nestjs/common';
import type { EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles, type DataOf } from '../messaging/inbox/handles.decorator.ts';
import { EventWriter } from '../messaging/outbox/produced-event.ts';
import { ServiceError } from '../runtime/service-error.ts';
import { TenantDirectory } from '../tenants/tenant-directory.ts';
import { controlCampaign, type Control } from './control-campaign/control-campaign.ts';
import { submitCampaign, type SubmittedRevision } from './submit-campaign/submit-campaign.ts';

type PauseRequested = DataOf<'einmal.campaign.pause-requested.v1'>;

@Controller()
export class CampaignRequestsHandler {
  constructor(
    private readonly events: EventWriter,
    private readonly tenants: TenantDirectory,
  ) {}

  @Handles('einmal.campaign.revision-submitted.v1')
  async submitted({ events, tx, outbox }: EventBatch<SubmittedRevision>): Promise<void> {
    for (const event of events) {
      const tenant = this.tenants.get(event.tenantId);
      if (!tenant) throw new ServiceError('unknown-tenant', 'the tenant is not configured', { retryable: false });
      await submitCampaign(tx, outbox, this.events, tenant, event);
    }
  }

  @Handles('einmal.campaign.pause-requested.v1')
  async pauseRequested(batch: EventBatch<PauseRequested>): Promise<void> {
    await this.#control(batch, 'pause');
  }

  @Handles('einmal.campaign.resume-requested.v1')
  async resumeRequested(batch: EventBatch<PauseRequested>): Promise<void> {
    await this.#control(batch, 'resume');
  }

  @Handles('einmal.campaign.cancel-requested.v1')
  async cancelRequested(batch: EventBatch<PauseRequested>): Promise<void> {
    await this.#control(batch, 'cancel');
  }

  async #control({ events, tx, outbox }: EventBatch<PauseRequested>, control: Control): Promise<void> {
    for (const event of events) {
      const origin = { tenantId: event.tenantId, causationId: event.id, traceparent: event.traceparent };
      await controlCampaign(tx, outbox, this.events, origin, control, event.data);
    }
  }
}
