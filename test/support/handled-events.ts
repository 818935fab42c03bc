import type {
  ConsumedEvent,
  EventBatch,
  EventHandler,
  HandlerRegistry,
} from '../../src/messaging/inbox/consumed-event.ts';
import type { DataOf } from '../../src/messaging/contracts/registry.ts';
import type { ConsumedRecord } from '../../src/messaging/kafka/record-chunk.ts';
import { topicAddress } from '../../src/messaging/topics.ts';
import { eventRecord, PREFIX, type EventParts, type MessagingRig } from './messaging-rig.ts';

type Upserted = DataOf<'einmal.subscriber.upserted.v1'>;
type Step = (batch: EventBatch) => Promise<void> | void;

/**
 * A handler whose effects are rows without any key, so that an event that is handled twice is there twice; each also
 * emits one message. `onHandle` is called after the rows were written and before the transaction ends.
 */
export class HandledEvents implements HandlerRegistry {
  /** Ids of each batch that reached the handler, also of those rolled back. */
  readonly batches: string[][] = [];
  onHandle: Step = () => undefined;

  private constructor(private readonly rig: MessagingRig) {}

  static async create(rig: MessagingRig): Promise<HandledEvents> {
    await rig.query(
      'CREATE TABLE handled (position bigserial, id text NOT NULL, type text NOT NULL, amount integer CHECK (amount > 0))',
    );
    return new HandledEvents(rig);
  }

  handlerOf(): EventHandler {
    return async (batch) => {
      this.batches.push(batch.events.map((event) => event.id));
      await batch.tx.query('INSERT INTO handled (id, type) SELECT * FROM unnest($1::text[], $2::text[])', [
        batch.events.map((event) => event.id),
        batch.events.map((event) => event.type),
      ]);
      for (const event of batch.events) batch.outbox.push(echoOf(event));
      await this.onHandle(batch);
    };
  }

  /** Sorted; an event that was handled twice is there twice. */
  async ids(): Promise<string[]> {
    return (await this.rig.query<{ id: string }>('SELECT id FROM handled ORDER BY id COLLATE "C"')).map(
      (row) => row.id,
    );
  }

  async types(): Promise<string[]> {
    return (await this.rig.query<{ type: string }>('SELECT type FROM handled ORDER BY position')).map(
      (row) => row.type,
    );
  }

  async reset(): Promise<void> {
    this.batches.length = 0;
    this.onHandle = () => undefined;
    await this.rig.query('TRUNCATE handled, inbox, outbox, dead_letters');
  }
}

function echoOf(event: ConsumedEvent) {
  const { subscriberId } = event.data as { subscriberId: string };
  return {
    topic: topicAddress(PREFIX, 'events'),
    key: Buffer.from(`${event.tenantId}/${subscriberId}`),
    headers: [['ce_type', 'echo']] as const,
    value: Buffer.from(JSON.stringify({ subscriberId })),
  };
}

/** A valid event; its id is the subscriber's id too. */
export function subscriberEvent(id: string, data: Partial<Upserted> = {}, parts: EventParts = {}): ConsumedRecord {
  const whole: Upserted = {
    subscriberId: id,
    email: 'ada@example.org',
    status: 'confirmed',
    lists: [],
    attributes: {},
    ...data,
  };
  return eventRecord('einmal.subscriber.upserted.v1', whole, { id, ...parts });
}
