import type { DataSource } from 'typeorm';
import type { OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { Logger } from '../observability/logger.ts';
import { PollingLoop, type PollingLoopHealth } from '../runtime/polling-loop.ts';
import type { ProcessPart } from '../runtime/process-part.ts';
import type { DispatchObserver } from './dispatch-observer.ts';
import type { DispatchPipeline } from './dispatch.pipeline.ts';
import type { ProviderLane } from './provider-lane.ts';
import { rescueExpired } from './rescue-expired.ts';

/** The dispatcher of this process: one loop that claims and the calls that it sets on their way; another that rescues. */
export class DispatcherService implements ProcessPart {
  readonly #pipeline: DispatchPipeline;
  readonly #loop: PollingLoop;

  constructor(
    pipelineFrom: (wake: () => void) => DispatchPipeline,
    private readonly providers: readonly ProviderLane[],
    private readonly rescue: PollingLoop,
    pollMs: { readonly min: number; readonly max: number },
    logger: Logger,
  ) {
    this.#pipeline = pipelineFrom(() => this.#loop.wake());
    this.#loop = new PollingLoop({
      name: 'dispatcher',
      runOnce: this.#pipeline.runOnce,
      idleMs: pollMs,
      backoff: { baseMs: 200, capMs: 5_000 },
      logger,
    });
  }

  start(): void {
    this.#loop.start();
    this.rescue.start();
  }

  async stop(timeoutMs: number): Promise<void> {
    const stopped = this.#pipeline.stop();
    await Promise.all([this.#loop.stop({ timeoutMs }), this.rescue.stop({ timeoutMs })]);
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([stopped, bound]);
    clearTimeout(timer);
    await Promise.all(this.providers.map((lane) => lane.provider.close()));
  }

  loops(): readonly PollingLoopHealth[] {
    return [this.#loop.health(), this.rescue.health()];
  }
}

/** The loop that takes back what lost workers held; every dispatcher and every maintenance process runs one. */
export function createRescueLoop(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  everyMs: number,
  observer: DispatchObserver,
  logger: Logger,
): PollingLoop {
  const PAGE = 500;
  return new PollingLoop({
    name: 'rescue',
    runOnce: async () => {
      const { queued, unknown } = await rescueExpired(dataSource, events, limits, PAGE);
      if (queued + unknown > 0) {
        logger.warn('dispatch.rescued', { queued, unknown });
        observer.rescued(queued, unknown);
      }
      return queued + unknown === PAGE ? 'more' : 'idle';
    },
    idleMs: { min: everyMs, max: everyMs },
    logger,
  });
}
