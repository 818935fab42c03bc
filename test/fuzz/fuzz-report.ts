/** What went wrong with one case, in words that allow to find it again. */
export interface Failure {
  readonly case: string;
  readonly what: string;
}

export interface FuzzPart {
  readonly done: number;
  readonly failures: readonly Failure[];
  /** How often each expectation was put to the test. */
  readonly counts: Readonly<Record<string, number>>;
}

export class FuzzCounter {
  readonly failures: Failure[] = [];
  readonly #counts = new Map<string, number>();
  done = 0;

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  fail(name: string, what: string): void {
    this.failures.push({ case: name, what });
  }

  part(): FuzzPart {
    return { done: this.done, failures: this.failures, counts: Object.fromEntries(this.#counts) };
  }
}
