import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { monotonicNow } from '../../runtime/monotonic.ts';
import { PollingLoop, type PollingLoopHealth } from '../../runtime/polling-loop.ts';
import type { ProcessPart } from '../../runtime/process-part.ts';
import type { Logger } from '../../observability/logger.ts';
import { seedBuckets } from './outbox-statements.ts';
import type { RelayPipeline } from './relay.pipeline.ts';

export interface RelayServiceSettings {
  readonly buckets: number;
  readonly pollMs: { readonly min: number; readonly max: number };
}

/** The relay of this process: one loop over its buckets, woken by commits of this process. */
export class RelayService implements ProcessPart {
  readonly #loop: PollingLoop;
  #seeded = false;
  #sweptAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly pipeline: RelayPipeline,
    private readonly settings: RelayServiceSettings,
    logger: Logger,
  ) {
    this.#loop = new PollingLoop({
      name: 'relay',
      runOnce: (signal) => this.#sweep(signal),
      idleMs: settings.pollMs,
      backoff: { baseMs: 200, capMs: 5_000 },
      logger,
    });
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  async stop(timeoutMs: number): Promise<void> {
    await this.#loop.stop({ timeoutMs });
    // Another relay takes the buckets at once; without it they are free when the lease ends.
    await this.pipeline.release().catch(() => undefined);
  }

  loops(): readonly PollingLoopHealth[] {
    return [this.#loop.health()];
  }

  async #sweep(signal: AbortSignal): Promise<'more' | 'idle'> {
    if (!this.#seeded) {
      await seedBuckets.run(this.dataSource, { buckets: this.settings.buckets });
      this.#seeded = true;
    }
    await this.#letRowsGather(signal);
    try {
      return await this.pipeline.runOnce(signal);
    } finally {
      this.#sweptAt = monotonicNow();
    }
  }

  /** A sweep costs the same for one row as for hundreds: under load there is one per `min`, and each finds what came meanwhile. */
  async #letRowsGather(signal: AbortSignal): Promise<void> {
    const early = this.settings.pollMs.min - (monotonicNow() - this.#sweptAt);
    if (early <= 0 || this.pipeline.isBehind) return;
    await wait(early, undefined, { signal }).catch(() => undefined);
  }
}
