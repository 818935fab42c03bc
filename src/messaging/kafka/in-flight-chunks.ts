interface InFlight {
  readonly controller: AbortController;
  overdue: boolean;
}

/** The chunks in a handler's hands: at most one per partition. */
export class InFlightChunks {
  readonly #chunks = new Map<number, InFlight>();
  #idle = Promise.withResolvers<void>();

  get size(): number {
    return this.#chunks.size;
  }

  has(partition: number): boolean {
    return this.#chunks.has(partition);
  }

  begin(partition: number): AbortSignal {
    const controller = new AbortController();
    this.#chunks.set(partition, { controller, overdue: false });
    return controller.signal;
  }

  end(partition: number): void {
    this.#chunks.delete(partition);
    if (this.#chunks.size > 0) return;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers();
  }

  abortAll(): void {
    for (const { controller } of this.#chunks.values()) controller.abort();
  }

  /** Tells the handler to give up, and remembers that it is over its deadline until it does. */
  markOverdue(partition: number): void {
    const chunk = this.#chunks.get(partition);
    if (chunk === undefined) return;
    chunk.overdue = true;
    chunk.controller.abort();
  }

  hasOverdue(): boolean {
    return [...this.#chunks.values()].some(({ overdue }) => overdue);
  }

  /** Resolves when no chunk is in flight. */
  idle(): Promise<void> {
    return this.#chunks.size === 0 ? Promise.resolve() : this.#idle.promise;
  }
}
