import { Controller } from '@nestjs/common';
import { addressHash, parseAddress } from '../mail/address.ts';
import type { ConsumedEvent, EventBatch } from '../messaging/inbox/consumed-event.ts';
import { Handles, type DataOf } from '../messaging/inbox/handles.decorator.ts';
import { newestFacts } from '../messaging/inbox/newest-facts.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import { EventWriter } from '../messaging/outbox/produced-event.ts';
import { ServiceError } from '../runtime/service-error.ts';
import { upsertSuppressions, type SuppressionChange, type SuppressionFact } from './upsert-suppressions.ts';

type Requested = DataOf<'einmal.suppression.requested.v1'>;
type LiftRequested = DataOf<'einmal.suppression.lift-requested.v1'>;

@Controller()
export class SuppressionFactsHandler {
  constructor(private readonly events: EventWriter) {}

  @Handles('einmal.suppression.requested.v1')
  async requested(batch: EventBatch<Requested>): Promise<void> {
    await this.#apply(batch, ({ id, data }) => ({
      reason: data.reason,
      active: true,
      cause: id,
      expiresAt: data.expiresAt ?? null,
    }));
  }

  @Handles('einmal.suppression.lift-requested.v1')
  async liftRequested(batch: EventBatch<LiftRequested>): Promise<void> {
    await this.#apply(batch, ({ id }) => ({
      reason: 'manual',
      active: false,
      cause: id,
      expiresAt: null,
    }));
  }

  async #apply<D extends Requested | LiftRequested>(
    { events, tx, outbox }: EventBatch<D>,
    decide: (event: ConsumedEvent<D>) => Pick<SuppressionFact, 'reason' | 'active' | 'cause' | 'expiresAt'>,
  ): Promise<void> {
    const keyed = events.map((event) => ({ ...event, addressKey: addressKeyOf(event.data.email) }));
    const newest = newestFacts(keyed, (event) => placeOf(event.tenantId, event.addressKey, event.data.scope));
    const changes = await upsertSuppressions(
      tx,
      newest.map((event) => ({
        tenantId: event.tenantId,
        addressKey: event.addressKey,
        scope: event.data.scope,
        factTime: event.time,
        ...decide(event),
      })),
    );
    const facts = new Map(newest.map((event) => [placeOf(event.tenantId, event.addressKey, event.data.scope), event]));
    for (const change of changes) {
      const fact = facts.get(placeOf(change.tenant_id, change.address_key, change.scope));
      if (fact) outbox.push(this.#changed(change, fact));
    }
  }

  #changed(change: SuppressionChange, fact: ConsumedEvent<Requested | LiftRequested>): OutboxEntry {
    const origin = { tenantId: change.tenant_id, causationId: fact.id, traceparent: fact.traceparent };
    const what = { addressHash: addressHash(change.address_key), scope: change.scope, cause: change.cause };
    return change.active
      ? this.events.write('einmal.suppression.added.v1', origin, { ...what, reason: change.reason })
      : this.events.write('einmal.suppression.lifted.v1', origin, { ...what, reason: fact.data.reason });
  }
}

/** One suppression. Not the id of its event: two peers may draw the same. */
function placeOf(tenantId: string, addressKey: string, scope: string): string {
  return JSON.stringify([tenantId, addressKey, scope]);
}

/** An address that cannot be mailed cannot be suppressed either; the record goes to the dead letters with the rule. */
function addressKeyOf(email: string): string {
  const address = parseAddress(email);
  if (!address.ok) throw new ServiceError('invalid-address', `email: ${address.rule}`, { retryable: false });
  return address.key;
}
