import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface EventLoopDelaySample {
  readonly meanMs: number;
  readonly p99Ms: number;
  /** The longest stall of the last one to two windows: what liveness looks at. */
  readonly maxMs: number;
}

/**
 * Samples how late the event loop serves its timers. Readers see the current window and the one before, so that a stall
 * right before a window ends is not lost, and any number of readers (probe, metrics) may ask.
 */
export class EventLoopDelay {
  static readonly #resolutionMs = 20;
  readonly #histogram = monitorEventLoopDelay({ resolution: EventLoopDelay.#resolutionMs });
  readonly #windowMs: number;
  #timer: NodeJS.Timeout | undefined;
  #lastWindow: EventLoopDelaySample = { meanMs: 0, p99Ms: 0, maxMs: 0 };

  constructor({ windowMs = 15_000 }: { readonly windowMs?: number } = {}) {
    this.#windowMs = windowMs;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#turnWindow(), this.#windowMs);
    // Measuring alone is no reason to stay alive.
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#histogram.disable();
  }

  sample(): EventLoopDelaySample {
    const current = this.#current();
    return {
      meanMs: this.#histogram.count > 0 ? current.meanMs : this.#lastWindow.meanMs,
      p99Ms: Math.max(current.p99Ms, this.#lastWindow.p99Ms),
      maxMs: Math.max(current.maxMs, this.#lastWindow.maxMs),
    };
  }

  #turnWindow(): void {
    this.#lastWindow = this.#current();
    this.#histogram.reset();
  }

  #current(): EventLoopDelaySample {
    if (this.#histogram.count === 0) return { meanMs: 0, p99Ms: 0, maxMs: 0 };
    const { mean, max } = this.#histogram;
    return { meanMs: delayMs(mean), p99Ms: delayMs(this.#histogram.percentile(99)), maxMs: delayMs(max) };
  }
}

/** The histogram counts whole intervals in ns, the sampling interval itself included. */
function delayMs(nanoseconds: number): number {
  return nanoseconds / 1e6;
}
