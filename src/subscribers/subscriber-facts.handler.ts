import { Controller } from '@nestjs/common';
import type { EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles, type DataOf } from '../messaging/inbox/handles.decorator.ts';
import { newestFacts } from '../messaging/inbox/newest-facts.ts';
import { upsertSubscribers } from './upsert-subscribers.ts';

type Upserted = DataOf<'einmal.subscriber.upserted.v1'>;
type Deleted = DataOf<'einmal.subscriber.deleted.v1'>;

@Controller()
export class SubscriberFactsHandler {
  @Handles('einmal.subscriber.upserted.v1')
  async upserted({ events, tx }: EventBatch<Upserted>): Promise<void> {
    const newest = newestFacts(events, (event) => JSON.stringify([event.tenantId, event.data.subscriberId]));
    await upsertSubscribers(
      tx,
      newest.map(({ tenantId, time, data }) => ({
        tenantId,
        subscriberId: data.subscriberId,
        status: data.status,
        email: data.email,
        lists: data.lists,
        attributes: data.attributes,
        locale: data.locale ?? null,
        timeZone: data.timeZone ?? null,
        factTime: time,
      })),
    );
  }

  /** The row stays, emptied, so that an older `upserted` that arrives late does not bring the person back. */
  @Handles('einmal.subscriber.deleted.v1')
  async deleted({ events, tx }: EventBatch<Deleted>): Promise<void> {
    const newest = newestFacts(events, (event) => JSON.stringify([event.tenantId, event.data.subscriberId]));
    await upsertSubscribers(
      tx,
      newest.map(({ tenantId, time, data }) => ({
        tenantId,
        subscriberId: data.subscriberId,
        status: 'deleted',
        email: null,
        lists: [],
        attributes: {},
        locale: null,
        timeZone: null,
        factTime: time,
      })),
    );
  }
}
