import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventOrigin, EventWriter } from '../../messaging/outbox/produced-event.ts';
import { conflictEvent, operationEvent, type OperationSummary } from '../operation-events.ts';
import type { RequestAnswer } from './request-answer.ts';

/** The answer as peers read it. */
export function answerEvent(events: EventWriter, origin: EventOrigin, answer: RequestAnswer): OutboxEntry {
  const { operationKey, operationId, state, payloadHash, attempts, effectId, reason } = answer.operation;
  const summary: OperationSummary = {
    operationKey,
    operationId,
    state,
    payloadHash,
    attempt: attempts,
    effectId,
    reason,
  };
  switch (answer.kind) {
    case 'queued':
    case 'rejected':
    case 'expired':
    case 'cancelled':
    case 'duplicated':
      return operationEvent(events, `einmal.operation.${answer.kind}.v1`, origin, summary);
    case 'too-old':
      return operationEvent(events, 'einmal.operation.rejected.v1', origin, summary);
    case 'conflicted':
      return conflictEvent(events, origin, summary, answer.refused);
  }
}
