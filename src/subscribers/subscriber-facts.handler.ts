import { Controller } from '@nestjs/common';
import { requestErasures } from '../erasure/request-erasure.ts';
import type { ConsumedEvent, EventBatch } from '../messaging/inbox/consumed-event.ts';
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

  /**
   * The row stays, emptied, so that an older `upserted` that arrives late does not bring the person back. What else is known of the
   * person is erased in pages by the maintenance, which has to be told the address before it is gone.
   */
  @Handles('einmal.subscriber.deleted.v1')
  async deleted({ events, tx }: EventBatch<Deleted>): Promise<void> {
    const keyOf = (event: ConsumedEvent<Deleted>) => JSON.stringify([event.tenantId, event.data.subscriberId]);
    const toErase = newestFacts(
      events.filter(({ data }) => data.erase === true),
      keyOf,
    );
    await requestErasures(
      tx,
      toErase.map(({ tenantId, source, data }) => ({
        tenantId,
        subscriberId: data.subscriberId,
        actor: source,
        reason: 'einmal.subscriber.deleted',
      })),
    );
    const newest = newestFacts(events, keyOf);
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
