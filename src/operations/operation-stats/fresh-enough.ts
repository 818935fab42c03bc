import { monotonicNow } from '../../runtime/monotonic.ts';

export interface Kept<T> {
  readonly value: T;
  readonly readAt: Date;
}

/** How many times as long as a reading took nothing is read again. */
const SHARE = 100;

/**
 * A value that is read again only after a while, and the less often the longer it takes: at most a hundredth of a connection's
 * time goes into it, however often it is asked for, and whether or not it succeeds. Who asks meanwhile gets the last one; only
 * the very first waits.
 */
export class FreshEnough<T> {
  readonly #read: () => Promise<T>;
  readonly #freshMs: number;
  readonly #now: () => number;
  #kept: Kept<T> | null = null;
  #reading: Promise<Kept<T>> | null = null;
  #readAgainAt = -Infinity;

  constructor(freshMs: number, read: () => Promise<T>, now: () => number = monotonicNow) {
    this.#read = read;
    this.#freshMs = freshMs;
    this.#now = now;
  }

  /** @throws what the last reading threw, while there is no value */
  async get(): Promise<Kept<T>> {
    const isDue = this.#reading === null || this.#now() >= this.#readAgainAt;
    const reading = this.#reading === null || isDue ? this.#begin() : this.#reading;
    return this.#kept ?? (await reading);
  }

  #begin(): Promise<Kept<T>> {
    // Nobody begins another while this one is under way.
    this.#readAgainAt = Infinity;
    const reading = this.#readAnew();
    // The old value says how old it is, and whoever has none is told.
    reading.catch(() => undefined);
    this.#reading = reading;
    return reading;
  }

  async #readAnew(): Promise<Kept<T>> {
    const startedAt = this.#now();
    try {
      const kept = { value: await this.#read(), readAt: new Date() };
      this.#kept = kept;
      return kept;
    } finally {
      const endedAt = this.#now();
      this.#readAgainAt = endedAt + Math.max(this.#freshMs, (endedAt - startedAt) * SHARE);
    }
  }
}
