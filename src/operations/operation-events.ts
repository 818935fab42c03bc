import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventOrigin, EventWriter } from '../messaging/outbox/produced-event.ts';
import type { OperationState } from './operation.states.ts';

/** The ledger's row as events show it. */
export interface OperationSummary {
  readonly operationKey: string;
  readonly operationId: string;
  readonly state: OperationState;
  readonly payloadHash: Buffer;
  readonly attempt?: number | null;
  readonly effectId?: string | null;
  readonly campaignId?: string | null;
  readonly reason?: string | null;
}

type StateEvent =
  | 'einmal.operation.queued.v1'
  | 'einmal.operation.duplicated.v1'
  | 'einmal.operation.suppressed.v1'
  | 'einmal.operation.accepted.v1'
  | 'einmal.operation.rejected.v1'
  | 'einmal.operation.unknown.v1'
  | 'einmal.operation.expired.v1'
  | 'einmal.operation.cancelled.v1'
  | 'einmal.operation.dead.v1';

/** The event of a state, with the members that every event about an operation has. */
export function operationEvent(
  events: EventWriter,
  type: StateEvent,
  origin: EventOrigin,
  operation: OperationSummary,
): OutboxEntry {
  return events.write(type, origin, operationData(operation));
}

export function conflictEvent(
  events: EventWriter,
  origin: EventOrigin,
  operation: OperationSummary,
  refused: Buffer,
): OutboxEntry {
  return events.write('einmal.operation.conflicted.v1', origin, {
    ...operationData(operation),
    refusedPayloadHash: hashText(refused),
  });
}

export function hashText(hash: Buffer): string {
  return `sha256:${hash.toString('hex')}`;
}

function operationData(operation: OperationSummary) {
  const { attempt, effectId, campaignId, reason } = operation;
  return {
    operationKey: operation.operationKey,
    operationId: operation.operationId,
    state: operation.state,
    payloadHash: hashText(operation.payloadHash),
    ...(attempt ? { attempt } : {}),
    ...(effectId ? { effectId } : {}),
    ...(campaignId ? { campaignId } : {}),
    ...(reason ? { reason } : {}),
  };
}
