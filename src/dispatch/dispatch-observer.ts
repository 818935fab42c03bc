import type { OperationState } from '../operations/operation.states.ts';
import type { CallOutcome } from '../providers/provider.port.ts';
import type { ResolutionStep } from './resolve/plan-resolution.ts';

/** Told what happens on the road, for metrics. */
export interface DispatchObserver {
  claimed(operations: number): void;
  called(provider: string, result: CallOutcome, seconds: number): void;
  recorded(result: CallOutcome): void;
  notCalled(why: string): void;
  rescued(queued: number, unknown: number): void;
  claimLost(step: 'commit-intents' | 'record' | 'resolve'): void;
  /** One step for an unknown outcome, and the state after it. */
  resolved(provider: string, step: ResolutionStep['do'], state: OperationState): void;
}
