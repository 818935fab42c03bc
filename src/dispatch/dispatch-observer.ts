import type { DeliveryResult } from '../providers/provider.port.ts';

/** Told what happens on the road, for metrics. */
export interface DispatchObserver {
  claimed(operations: number): void;
  called(provider: string, result: DeliveryResult, seconds: number): void;
  recorded(result: DeliveryResult): void;
  notCalled(why: string): void;
  rescued(queued: number, unknown: number): void;
  claimLost(step: 'commit-intents' | 'record'): void;
}
