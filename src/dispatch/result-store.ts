import { setTimeout as wait } from 'node:timers/promises';
import { classifyDatabaseError } from '../database/postgres-errors.ts';
import type { Logger } from '../observability/logger.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { createMicroBatch, type MicroBatch } from '../runtime/micro-batch.ts';
import { errorCode } from '../runtime/service-error.ts';

const BACKOFF = { baseMs: 50, capMs: 5_000 };

/** Nobody waits for a result; but until it is stored, a crash makes it unknown. */
const GATHER = { ms: 10, size: 100 };

type Stored = 'held' | 'claim-lost' | 'failed';

/**
 * Keeps results until they are stored, for as long as the process lives: whatever goes wrong here, the provider is never
 * called again because of it. One that the database refuses is tried again alone and holds up no other.
 */
export class ResultStore<R> {
  readonly #batch: MicroBatch<R, Stored>;

  /** @param record stores a batch, or none of it; says for each whether the claim still held. Safe to repeat. */
  constructor(
    maxSize: number,
    private readonly record: (batch: readonly R[]) => Promise<boolean[]>,
    private readonly logger: Logger,
  ) {
    this.#batch = createMicroBatch({ maxSize, gather: GATHER, run: (batch) => this.#recordOrHalve(batch) });
  }

  /** Resolves when it is stored: whether the claim still held. */
  async store(called: R): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      const stored = await this.#batch(called);
      if (stored !== 'failed') return stored === 'held';
      await wait(backoffMs(failures, BACKOFF));
    }
  }

  async #recordOrHalve(batch: readonly R[]): Promise<Stored[]> {
    try {
      return (await this.record(batch)).map((held) => (held ? 'held' : 'claim-lost'));
    } catch (error) {
      const failure = classifyDatabaseError(error);
      if (batch.length === 1 || failure === 'away' || failure === 'contention') {
        this.logger.error('dispatch.record-failed', { code: errorCode(error), results: batch.length });
        return batch.map(() => 'failed');
      }
      const half = Math.ceil(batch.length / 2);
      return [...(await this.#recordOrHalve(batch.slice(0, half))), ...(await this.#recordOrHalve(batch.slice(half)))];
    }
  }
}
