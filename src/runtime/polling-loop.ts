import type { Logger } from '../observability/logger.ts';
import { backoffMs, type BackoffOptions } from './backoff.ts';
import { monotonicNow } from './monotonic.ts';
import { errorCode, ServiceError } from './service-error.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

export type RunResult = 'more' | 'idle';
export type StopResult = 'stopped' | 'timed-out';

export interface PollingLoopOptions {
  readonly name: string;
  /** One pass. `more`: there may be more, run again at once. `idle`: nothing was there. The signal is aborted by stop(). */
  readonly runOnce: (signal: AbortSignal) => Promise<RunResult>;
  /** The wait after an idle pass starts at `min` and doubles up to `max` while passes stay idle. */
  readonly idleMs: { readonly min: number; readonly max: number };
  /** The wait after a failed pass. Default 200 ms to 30 s. */
  readonly backoff?: BackoffOptions;
  readonly onError?: (error: unknown, failuresInARow: number) => void;
  readonly logger: Logger;
}

export interface PollingLoopHealth {
  readonly name: string;
  /** true from start() until the loop has ended. */
  readonly running: boolean;
  /** End of the last pass that did not fail. */
  readonly lastRunAt: Date | null;
  /** Code of the last failure; null again after a pass that did not fail. */
  readonly lastErrorCode: string | null;
  readonly failuresInARow: number;
  /** How long the pass in hand has been going on, null between passes: the measure of a hung pass. */
  readonly currentRunMs: number | null;
}

/** The one loop of the service: passes never overlap, errors become waits, and it has one life: start, then stop. */
export class PollingLoop {
  readonly #options: PollingLoopOptions;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #sleep = new WakeableSleep();
  #ended: Promise<void> | null = null;
  #running = false;
  #idleMs: number;
  #failures = 0;
  #lastRunAt: Date | null = null;
  #lastErrorCode: string | null = null;
  #runStartedAt: number | null = null;

  constructor(options: PollingLoopOptions) {
    this.#options = options;
    this.#logger = options.logger.child({ loop: options.name });
    this.#idleMs = options.idleMs.min;
  }

  /** A second start changes nothing; a start after stop() throws, since the abort signal cannot be taken back. */
  start(): void {
    if (this.#stopping.signal.aborted) {
      throw new ServiceError('loop-stopped', `the loop ${this.#options.name} was stopped`, { retryable: false });
    }
    if (this.#ended !== null) return;
    this.#running = true;
    this.#ended = this.#loop();
  }

  /**
   * There is work: the next pass starts at once, or right after the pass in hand. Any number of calls make one pass.
   * A wait after a failure is not cut short, else a busy writer would turn an outage into a storm.
   */
  wake(): void {
    this.#idleMs = this.#options.idleMs.min;
    this.#sleep.wake();
  }

  /** Aborts the signal, ends any wait, and gives the pass in hand `timeoutMs` to end. May be called again to go on waiting. */
  async stop({ timeoutMs }: { readonly timeoutMs: number }): Promise<StopResult> {
    this.#stopping.abort();
    this.#sleep.end();
    if (this.#ended === null || !this.#running) return 'stopped';
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<StopResult>((resolve) => {
      timer = setTimeout(() => resolve('timed-out'), timeoutMs);
    });
    const result = await Promise.race([this.#ended.then((): StopResult => 'stopped'), timedOut]);
    clearTimeout(timer);
    if (result === 'timed-out') this.#logger.warn('loop.stop-timed-out', { timeoutMs });
    return result;
  }

  health(): PollingLoopHealth {
    return {
      name: this.#options.name,
      running: this.#running,
      lastRunAt: this.#lastRunAt,
      lastErrorCode: this.#lastErrorCode,
      failuresInARow: this.#failures,
      currentRunMs: this.#runStartedAt === null ? null : monotonicNow() - this.#runStartedAt,
    };
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const result = await this.#run(signal);
      if (signal.aborted) break;
      if (result === 'failed') await this.#sleep.deaf(this.#backoffMs());
      else if (result === 'idle') await this.#sleep.light(this.#nextIdleMs());
      else {
        this.#idleMs = this.#options.idleMs.min;
        await this.#sleep.turn();
      }
    }
    this.#running = false;
  }

  async #run(signal: AbortSignal): Promise<RunResult | 'failed'> {
    this.#sleep.forgetWakes();
    this.#runStartedAt = monotonicNow();
    try {
      const result = await this.#options.runOnce(signal);
      this.#failures = 0;
      this.#lastErrorCode = null;
      this.#lastRunAt = new Date();
      return result;
    } catch (error) {
      this.#failed(error, signal);
      return 'failed';
    } finally {
      this.#runStartedAt = null;
    }
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted && isAbort(error)) return;
    this.#failures += 1;
    this.#lastErrorCode = errorCode(error);
    this.#logger.error('loop.run-failed', { error, failuresInARow: this.#failures });
    try {
      this.#options.onError?.(error, this.#failures);
    } catch (secondError) {
      this.#logger.error('loop.on-error-failed', { error: secondError });
    }
  }

  #backoffMs(): number {
    return backoffMs(this.#failures, this.#options.backoff ?? { baseMs: 200, capMs: 30_000 });
  }

  #nextIdleMs(): number {
    const wait = this.#idleMs;
    this.#idleMs = Math.min(this.#options.idleMs.max, Math.max(1, wait) * 2);
    return wait;
  }
}

/** A pass that ends by its own abort signal did as it was told. The two names are Node's and the web platform's. */
function isAbort(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ABORT_ERR' || code === 'AbortError';
}
