import 'reflect-metadata';
import { CampaignRequestsHandler } from '../../src/campaigns/campaign-requests.handler.ts';
import { ApprovalFactsHandler } from '../../src/campaigns/approve-campaign/approval-facts.handler.ts';
import type { EventBatch, EventHandler, HandlerRegistry } from '../../src/messaging/inbox/consumed-event.ts';
import { EventWriter } from '../../src/messaging/outbox/produced-event.ts';
import { OperationRequestsHandler } from '../../src/operations/operation-requests.handler.ts';
import { OperationSettings } from '../../src/operations/operation-settings.ts';
import { ReceiptFactsHandler } from '../../src/receipts/receipt-facts.handler.ts';
import { SubscriberFactsHandler } from '../../src/subscribers/subscriber-facts.handler.ts';
import { SuppressionFactsHandler } from '../../src/suppressions/suppression-facts.handler.ts';
import { TenantDirectory } from '../../src/tenants/tenant-directory.ts';
import { PREFIX } from './messaging-rig.ts';

/** Where Nest's `EventPattern` keeps the types of a method. */
const PATTERN_METADATA = 'microservices:pattern';

/** Every handler of the service by its type, without Nest: the classes are called as the transport strategy would. */
export function domainHandlers(): HandlerRegistry {
  const events = new EventWriter(PREFIX);
  const tenants = new TenantDirectory({ tenants: { demo: tenant('demo'), other: tenant('other') } });
  const handlers = new Map<string, EventHandler>();
  for (const controller of [
    new SubscriberFactsHandler(),
    new SuppressionFactsHandler(events),
    new CampaignRequestsHandler(events, tenants),
    new ApprovalFactsHandler(events),
    new OperationRequestsHandler(events, tenants, new OperationSettings(12)),
    new ReceiptFactsHandler(events),
  ]) {
    for (const [type, handler] of handlersOf(controller)) handlers.set(type, handler);
  }
  return { handlerOf: (type) => handlers.get(type) };
}

function* handlersOf(controller: object): Generator<[string, EventHandler]> {
  const prototype = Object.getPrototypeOf(controller) as Record<string, unknown>;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method = prototype[name];
    if (typeof method !== 'function') continue;
    const types = Reflect.getMetadata(PATTERN_METADATA, method) as readonly string[] | undefined;
    const call = method as (batch: EventBatch) => Promise<void>;
    for (const type of types ?? []) yield [type, async (batch) => await call.call(controller, batch)];
  }
}

function tenant(id: string): TenantDirectoryEntry {
  return {
    id,
    tokens: [],
    senders: ['news@einmal.example', 'example.org'],
    provider: 'main',
    providers: ['main'],
    keyRetentionDays: 400,
    payloadRetentionDays: 30,
    afterKeyRetention: 'tombstone',
    onUnknown: 'hold',
  };
}

type TenantDirectoryEntry = NonNullable<ReturnType<TenantDirectory['get']>>;
