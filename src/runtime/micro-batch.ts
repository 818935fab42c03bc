import { setImmediate as afterThisTurn } from 'node:timers';
import { monotonicNow } from './monotonic.ts';
import { ServiceError } from './service-error.ts';

export interface MicroBatchOptions<I, O> {
  /** Most items of one run; 1 or more. */
  readonly maxSize: number;
  /** Runs that may be in flight at once. Default 1, which also keeps runs in order. */
  readonly lanes?: number;
  /**
   * Under load only: a run that would begin less than `ms` after the end of the one before waits until `size` items are there or `ms` is
   * over. Default: no run waits.
   */
  readonly gather?: { readonly ms: number; readonly size: number };
  /** Gives one result per item, by index. A rejection rejects every item of this run and no other. */
  readonly run: (items: readonly I[]) => Promise<readonly O[]>;
}

export interface MicroBatch<I, O> {
  (item: I): Promise<O>;
  /** Resolves when nothing waits and nothing runs; never rejects. Items may still be added meanwhile. */
  drain(): Promise<void>;
  /** Items waiting or running. */
  size(): number;
}

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: while the lanes are busy, arrivals gather and leave together as the next run, so the batch grows with the load
 * and a lone item waits for nobody. The first run only waits for the end of the event loop's current turn,
 * which gathers what the same poll brought in.
 */
export function createMicroBatch<I, O>({ maxSize, lanes = 1, gather, run }: MicroBatchOptions<I, O>): MicroBatch<I, O> {
  let waiting: Waiting<I, O>[] = [];
  let scheduled = false;
  let timer: NodeJS.Timeout | undefined;
  let lastEnded = -Infinity;
  let inFlight = 0;
  let itemsInFlight = 0;
  let drained = Promise.withResolvers<void>();

  function schedule(): void {
    if (scheduled || inFlight >= lanes) return;
    scheduled = true;
    afterThisTurn(() => {
      scheduled = false;
      startRuns();
    });
  }

  /** How long the next run should still wait for company, in ms. */
  function patience(): number {
    if (gather === undefined || waiting.length >= gather.size) return 0;
    return lastEnded + gather.ms - monotonicNow();
  }

  function startRuns(): void {
    clearTimeout(timer);
    while (waiting.length > 0 && inFlight < lanes) {
      const patient = patience();
      if (patient > 0) {
        timer = setTimeout(startRuns, patient);
        return;
      }
      const batch = waiting.slice(0, maxSize);
      waiting = waiting.slice(maxSize);
      void runBatch(batch);
    }
    if (waiting.length === 0 && inFlight === 0) {
      drained.resolve();
      drained = Promise.withResolvers();
    }
  }

  async function runBatch(batch: readonly Waiting<I, O>[]): Promise<void> {
    inFlight += 1;
    itemsInFlight += batch.length;
    try {
      settle(batch, await run(batch.map(({ item }) => item)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    lastEnded = monotonicNow();
    inFlight -= 1;
    itemsInFlight -= batch.length;
    startRuns();
  }

  const size = (): number => waiting.length + itemsInFlight;
  const add = (item: I): Promise<O> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
  const drain = (): Promise<void> => (size() === 0 ? Promise.resolve() : drained.promise);
  return Object.assign(add, { drain, size });
}

function settle<I, O>(batch: readonly Waiting<I, O>[], results: readonly O[]): void {
  if (results.length !== batch.length) {
    const message = `a run of ${batch.length} items gave ${results.length} results`;
    throw new ServiceError('micro-batch-result-count', message, { retryable: false });
  }
  // The lengths are equal, so the index is in range; O itself may include undefined.
  batch.forEach(({ resolve }, index) => resolve(results[index] as O));
}
