import { randomUUID } from 'node:crypto';
import { contractOf, type DataOf, type ProducedType } from '../contracts/registry.ts';
import { writeEnvelope } from '../envelope.ts';
import { topicAddress } from '../topics.ts';
import type { OutboxEntry } from './outbox-entry.ts';

export interface EventOrigin {
  readonly tenantId: string;
  /** `ce_id` of the request that led to this. */
  readonly causationId?: string | null | undefined;
  readonly traceparent?: string | null | undefined;
}

/** Makes the outbox entry of an event that Einmal states. Its id is drawn here, once, and stays through every publication. */
export class EventWriter {
  constructor(private readonly topicPrefix: string) {}

  write<T extends ProducedType>(type: T, origin: EventOrigin, data: DataOf<T>): OutboxEntry {
    const { headers, value, key } = writeEnvelope<T>({
      type,
      id: randomUUID(),
      source: '/einmal',
      time: new Date(),
      tenantId: origin.tenantId,
      causationId: origin.causationId ?? undefined,
      traceparent: origin.traceparent ?? undefined,
      data,
    });
    return {
      topic: topicAddress(this.topicPrefix, contractOf(type).topic),
      key: Buffer.from(key, 'utf8'),
      headers: Object.entries(headers),
      value,
    };
  }
}
