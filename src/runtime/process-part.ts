import type { PollingLoopHealth } from './polling-loop.ts';

/** A part of the process that works by itself: started once all is wired, stopped within a bound. */
export interface ProcessPart {
  start(): void | Promise<void>;
  /** Ends what is in hand or gives it back. May be called once. */
  stop(timeoutMs: number): Promise<void>;
  loops(): readonly PollingLoopHealth[];
}
