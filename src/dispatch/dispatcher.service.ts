import type { DataSource } from 'typeorm';
import type { OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { Logger } from '../observability/logger.ts';
import { judgingWherePossible } from '../operations/settle-by-evidence/judging-where-possible.ts';
import { deadlineIn } from '../runtime/monotonic.ts';
import { PollingLoop, type PollingLoopHealth } from '../runtime/polling-loop.ts';
import type { ProcessPart } from '../runtime/process-part.ts';
import type { DispatchObserver } from './dispatch-observer.ts';
import type { DispatchPipeline } from './dispatch.pipeline.ts';
import type { ProviderLane } from './provider-lane.ts';
import { rescueExpired } from './rescue-expired.ts';
import type { ResolvePipeline } from './resolve/resolve.pipeline.ts';

/** An unknown outcome is looked at within a second; its next look is a matter of minutes. */
const RESOLVE_POLL_MS = { min: 250, max: 1_000 };
/** Of the time to stop: for a provider to end the calls under way, and for their results to be stored. */
const CLOSING_MS = 7_000;

/**
 * The dispatcher of this process: one loop that claims and the calls that it sets on their way, one that finds out about unknown
 * outcomes, and one that rescues.
 */
export class DispatcherService implements ProcessPart {
  readonly #pipeline: DispatchPipeline;
  readonly #loop: PollingLoop;
  readonly #resolving: PollingLoop;

  constructor(
    pipelineFrom: (wake: () => void) => DispatchPipeline,
    private readonly providers: readonly ProviderLane[],
    private readonly rescue: PollingLoop,
    private readonly resolver: ResolvePipeline,
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
    this.#resolving = new PollingLoop({
      name: 'resolve',
      runOnce: resolver.runOnce,
      idleMs: RESOLVE_POLL_MS,
      backoff: { baseMs: 200, capMs: 5_000 },
      logger,
    });
  }

  start(): void {
    this.#loop.start();
    this.#resolving.start();
    this.rescue.start();
  }

  async stop(timeoutMs: number): Promise<void> {
    const bound = deadlineIn(timeoutMs);
    const stopped = Promise.all([this.#pipeline.stop(), this.resolver.stop()]);
    await Promise.all([this.#loop, this.#resolving, this.rescue].map((loop) => loop.stop({ timeoutMs })));
    // Again, for what the last pass has claimed.
    const given = Promise.all([stopped, this.#pipeline.stop(), this.resolver.stop()]);
    await within(Math.max(bound.remainingMs() - CLOSING_MS, bound.remainingMs() / 2), given);
    // Ends the calls that are still under way; what is then known of them is stored like any result.
    const closed = Promise.all(this.providers.map((lane) => lane.provider.close()));
    await within(bound.remainingMs(), Promise.all([closed, given]));
  }

  loops(): readonly PollingLoopHealth[] {
    return [this.#loop.health(), this.#resolving.health(), this.rescue.health()];
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** The loop that takes back what lost workers held; every dispatcher and every maintenance process runs one. */
export function createRescueLoop(
  dataSource: DataSource,
  events: EventWriter,
  limits: OutboxLimits,
  { everyMs, maxCrashes }: { readonly everyMs: number; readonly maxCrashes: number },
  observer: DispatchObserver,
  logger: Logger,
): PollingLoop {
  const PAGE = 500;
  return new PollingLoop({
    name: 'rescue',
    runOnce: async () => {
      const page = { limit: PAGE, maxCrashes };
      const { queued, unknown, dead, released } = await judgingWherePossible(
        async (judge) => await rescueExpired(dataSource, events, limits, { ...page, judge }),
        (code) => logger.error('dispatch.rescue-not-judged', { code }),
      );
      const rescued = queued + unknown + dead + released;
      if (rescued > 0) {
        logger.warn('dispatch.rescued', { queued, unknown, dead, released });
        observer.rescued(queued, unknown);
      }
      return rescued === PAGE ? 'more' : 'idle';
    },
    idleMs: { min: everyMs, max: everyMs },
    logger,
  });
}
