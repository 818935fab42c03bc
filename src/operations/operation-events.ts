import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventOrigin, EventWriter } from '../messaging/outbox/produced-event.ts';
import type { evidenceSteps, resolvers } from '../messaging/contracts/vocabulary.ts';
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
  | 'einmal.operation.delivered.v1'
  | 'einmal.operation.bounced.v1'
  | 'einmal.operation.complained.v1'
  | 'einmal.operation.rejected.v1'
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

/** What was done to find out about an unknown outcome, and what came of it. */
export interface EvidenceStep {
  readonly at: Date;
  readonly step: (typeof evidenceSteps)[number];
  readonly outcome: string;
  readonly code: string | null;
}

export interface Resolution {
  readonly resolvedBy: (typeof resolvers)[number];
  readonly policy?: 'hold' | 'resend' | 'assume-sent';
  readonly unknownSince: Date | null;
  readonly doubled: boolean;
  readonly evidence: readonly EvidenceStep[];
}

/** What events show of the evidence: the newest steps. */
const SHOWN_STEPS = 50;

export function unknownEvent(
  events: EventWriter,
  origin: EventOrigin,
  operation: OperationSummary,
  told: {
    readonly unknownSince: Date | null;
    readonly needsPerson: boolean;
    readonly evidence: readonly EvidenceStep[];
  },
): OutboxEntry {
  return events.write('einmal.operation.unknown.v1', origin, {
    ...operationData(operation),
    ...evidenceData(told),
    ...(told.needsPerson ? { needsPerson: true } : {}),
  });
}

export function resolvedEvent(
  events: EventWriter,
  origin: EventOrigin,
  operation: OperationSummary,
  resolution: Resolution,
): OutboxEntry {
  const { resolvedBy, policy, doubled } = resolution;
  return events.write('einmal.operation.resolved.v1', origin, {
    ...operationData(operation),
    ...evidenceData(resolution),
    resolvedBy,
    ...(policy ? { policy } : {}),
    ...(doubled ? { doubled } : {}),
  });
}

function evidenceData({
  unknownSince,
  evidence,
}: {
  readonly unknownSince: Date | null;
  readonly evidence: readonly EvidenceStep[];
}) {
  return {
    ...(unknownSince ? { unknownSince: unknownSince.toISOString() } : {}),
    ...(evidence.length > 0 ? { evidence: evidence.slice(-SHOWN_STEPS).map(stepData) } : {}),
  };
}

function stepData({ at, step, outcome, code }: EvidenceStep) {
  return { step, outcome, at: at.toISOString(), ...(code ? { code } : {}) };
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
