import type { CallOutcome } from '../../src/providers/provider.port.ts';
import type { Stand } from './stand.ts';

/** What one case showed. Empty problems: it passed. */
export interface CaseResult {
  readonly stand: string;
  readonly row: string;
  /** What the first call came to; null where the case makes none. */
  readonly outcome: string | null;
  /** Effects under the case's reference after the first call and when it was over; null where none is counted. */
  readonly effects: readonly [number, number] | null;
  /** What the walk after it found. */
  readonly walked: readonly string[];
  readonly problems: readonly string[];
}

/** Collects what a case sees. */
export class Notes {
  readonly #problems: string[] = [];
  readonly #walked: string[] = [];
  outcome: string | null = null;
  /** After the first call, and when the case was over. */
  effects: [number, number] | null = null;

  check(holds: boolean, problem: string): void {
    if (!holds) this.#problems.push(problem);
  }

  counted(effects: number): void {
    this.effects = [this.effects?.[0] ?? effects, effects];
  }

  walked(step: string): void {
    this.#walked.push(step);
  }

  /** What holds for every outcome, whatever it is. */
  checkWords({ code, diagnostic }: Pick<CallOutcome, 'code' | 'diagnostic'>, what: string): void {
    this.check(
      /^[\w.-]{1,100}$/.test(code),
      `${what}: the code is not one word: ${JSON.stringify(code.slice(0, 100))}`,
    );
    this.check(diagnostic.length <= 500, `${what}: the diagnostic is longer than 500 characters`);
    this.check(!/[\p{Cc}]/u.test(diagnostic), `${what}: the diagnostic has control characters`);
    this.check(!/@to\.example|sink-api-/.test(diagnostic), `${what}: the diagnostic shows an address or a credential`);
  }

  result(stand: Stand, row: string): CaseResult {
    const { outcome, effects } = this;
    return { stand: stand.name, row, outcome, effects, walked: this.#walked, problems: this.#problems };
  }
}

/** One row of the table. */
export interface Scenario {
  readonly row: string;
  applies(stand: Stand): boolean;
  run(stand: Stand, notes: Notes): Promise<void>;
}

/** ms for calls that the server ends: longer than a busy machine needs. */
export const PATIENT_MS = 20_000;
/** ms for calls that only our clock ends: long enough to get to the server. */
export const IMPATIENT_MS = 1500;
