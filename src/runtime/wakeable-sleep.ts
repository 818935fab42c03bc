/** The waits of a polling loop: a wake is kept until the next pass begins, an end cuts every wait from then on. */
export class WakeableSleep {
  #woken = false;
  #ended = false;
  #cut: ((by: 'wake' | 'end') => void) | null = null;

  wake(): void {
    this.#woken = true;
    this.#cut?.('wake');
  }

  end(): void {
    this.#ended = true;
    this.#cut?.('end');
  }

  /** A pass begins: wakes up to here are served by it. */
  forgetWakes(): void {
    this.#woken = false;
  }

  /** Waits `ms`; a wake, also one that came before, ends it. */
  light(ms: number): Promise<void> {
    return this.#woken ? this.turn() : this.#wait(ms, true);
  }

  /** Waits `ms`, whoever calls; only end() cuts it. */
  deaf(ms: number): Promise<void> {
    return this.#wait(ms, false);
  }

  /** Lets the event loop serve others, so that a loop with much work does not starve timers and sockets. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  #wait(ms: number, wakeable: boolean): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#cut = null;
        resolve();
      };
      const timer = setTimeout(finish, ms);
      this.#cut = (by) => {
        if (by === 'end' || wakeable) finish();
      };
    });
  }
}
