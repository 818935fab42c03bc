import { writeSync } from 'node:fs';

/** What happens to the one wait that is struck; each is how a network or a process really fails there. */
export const SEAM_WAYS = ['before', 'unacknowledged', 'hang', 'exit'] as const;
export type SeamWay = (typeof SEAM_WAYS)[number];

export interface SeamFault {
  /** Kind and number of the wait, `COMMIT 2` is the second commit. */
  readonly seam: string;
  readonly way: SeamWay;
}

/** How a lost wait looks to whoever waits: a value where errors are values, else it throws. */
export interface Loss<T> {
  /** Nothing was sent. */
  before(): T | Promise<T>;
  /** It was done, and the answer does not arrive. */
  after(answer: T): T | Promise<T>;
}

/**
 * Every wait of a worker for the outside world, in order, by kind and number of that kind: the same name means the same wait in
 * every run, also where two roads overlap. One of them may be struck; those before and after it are left alone.
 */
export class SeamLine {
  readonly #fault: SeamFault | null;
  readonly #passed: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #struck = Promise.withResolvers<'struck'>();
  readonly #released = Promise.withResolvers<void>();
  #begun = false;
  #reached = false;

  constructor(fault: SeamFault | null) {
    this.#fault = fault;
  }

  /** Counting starts here: what a worker does before, to connect, is none of its road. */
  begin(): void {
    this.#begun = true;
  }

  get passed(): readonly string[] {
    return this.#passed;
  }

  /** Whether the fault has happened. */
  get reached(): boolean {
    return this.#reached;
  }

  get struck(): Promise<'struck'> {
    return this.#struck.promise;
  }

  /** Lets a wait that hangs go on. */
  release(): void {
    this.#released.resolve();
  }

  async pass<T>(kind: string, go: () => Promise<T>, loss: Loss<T>): Promise<T> {
    const fault = this.#enter(kind);
    if (fault === null) return await go();
    switch (fault.way) {
      case 'before':
        return await loss.before();
      case 'unacknowledged':
        return await loss.after(await go());
      case 'hang':
        await this.#released.promise;
        return await go();
      case 'exit':
        return await die();
    }
  }

  /** The fault, where this wait is the one. */
  #enter(kind: string): SeamFault | null {
    if (!this.#begun) return null;
    const nth = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, nth);
    const seam = `${kind} ${nth}`;
    this.#passed.push(seam);
    if (seam !== this.#fault?.seam) return null;
    this.#reached = true;
    this.#struck.resolve('struck');
    return this.#fault;
  }
}

/** Said by a process that ends itself, before it does. */
export const STRUCK_LINE = 'struck';

async function die(): Promise<never> {
  writeSync(1, `${STRUCK_LINE}\n`);
  process.kill(process.pid, 'SIGKILL');
  // The signal may arrive a little later: nothing more must happen here.
  return await new Promise<never>(() => undefined);
}
