import type { CallOutcome, Provider } from '../providers/provider.port.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { monotonicNow } from '../runtime/monotonic.ts';

/** Under load claims come this far apart, in ms: the more is sent meanwhile, the more shares one statement. */
const CLAIM_GAP_MS = 50;
const ACCOUNT_PAUSE_MS = 1_000;
const BREAK = { baseMs: 1_000, capMs: 60_000 };

/**
 * Operations in calls and in answers that are not stored, in multiples of what all calls at a time carry: what a kill of the
 * process leaves unknown at most, 4 × connections × batchSize. Storing takes two statements' time; four keep the calls going
 * meanwhile.
 */
const OPEN_PER_CALL = 4;

/** Goes on with the function that gives the call back, or without a call. */
type Waiter = (leaveCall: (() => void) | null) => void;

/**
 * What a process may have under way at one provider: calls at a time, operations claimed ahead of them, and a pause when
 * the provider as a whole does not work. A pause costs no operation anything: they stay queued.
 */
export class ProviderLane {
  #underWay = 0;
  #calls = 0;
  /** Operations that the provider has answered to and whose results are not stored yet. */
  #unstored = 0;
  /** Those who wait for a call: single operations, and behind them campaigns. */
  readonly #urgent: Waiter[] = [];
  readonly #waiting: Waiter[] = [];
  #failuresInARow = 0;
  #pauses = 0;
  #pausedUntil = 0;
  #claimedAt = -Infinity;
  /** It has stopped, and the operation under way tries whether it works again. */
  probing = false;
  #window: number;

  constructor(
    readonly provider: Provider,
    private readonly settings: {
      readonly claimBatch: number;
      readonly claimBatchMax: number;
    },
  ) {
    this.#window = this.#smallestWindow();
  }

  get name(): string {
    return this.provider.name;
  }

  /** Operations that one call may carry. */
  get perCall(): number {
    const { batch } = this.provider.abilities;
    return batch.kind === 'none' ? 1 : batch.max;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** How many more operations may be claimed now. */
  room(): number {
    return this.paused() ? 0 : Math.max(0, this.#window - this.#underWay);
  }

  /** Whether there is room for a claim that is worth its statement. A lane that runs dry never waits for the gap. */
  hasRoom(): boolean {
    const room = this.room();
    if (room >= this.#window / 2) return true;
    return room >= this.settings.claimBatch && monotonicNow() >= this.#claimedAt + CLAIM_GAP_MS;
  }

  paused(): boolean {
    return monotonicNow() < this.#pausedUntil;
  }

  /** Full claims widen the window, up to the largest batch; an empty lane goes back to the smallest. */
  claimed(asked: number, got: number): void {
    this.#claimedAt = monotonicNow();
    this.#underWay += got;
    if (got >= asked) this.#window = Math.min(this.settings.claimBatchMax, this.#window * 2);
    else if (got === 0) this.#window = this.#smallestWindow();
  }

  finished(): void {
    this.#underWay -= 1;
  }

  /**
   * Waits for a free call; resolves with the function that gives it back, or `null` when there will be none. An urgent one
   * goes before all that was claimed ahead of it and is not.
   */
  async enterCall(urgent: boolean): Promise<(() => void) | null> {
    if (this.paused()) return null;
    if (!this.#mayCall()) {
      return await new Promise((resolve) => (urgent ? this.#urgent : this.#waiting).push(resolve));
    }
    this.#calls += 1;
    return this.#leaveCall;
  }

  /** Lets all go on who wait for a call, without one. */
  dismissWaiting(): void {
    for (const goOn of [...this.#urgent.splice(0), ...this.#waiting.splice(0)]) goOn(null);
  }

  /** The provider has answered, and until `stored`, for each of them, a kill would leave the operations unknown. */
  answered(operations = 1): void {
    this.#unstored += operations;
  }

  stored(): void {
    this.#unstored -= 1;
    this.#handOutCalls();
  }

  readonly #leaveCall = (): void => {
    this.#calls -= 1;
    this.#handOutCalls();
  };

  #handOutCalls(): void {
    while (this.#mayCall()) {
      const next = this.#urgent.shift() ?? this.#waiting.shift();
      if (!next) return;
      this.#calls += 1;
      next(this.#leaveCall);
    }
  }

  #mayCall(): boolean {
    const { concurrency } = this.provider;
    // As if each call were full: who has one may fill it.
    const open = (this.#calls + 1) * this.perCall + this.#unstored;
    return this.#calls < concurrency && open <= OPEN_PER_CALL * concurrency * this.perCall;
  }

  /** Learns from a result. Says so when the lane stops because of it. */
  learn(result: CallOutcome): 'account' | 'unreachable' | 'throttled' | undefined {
    if (result.kind === 'account') {
      // Until the stop is stored, which holds for all replicas.
      this.#pausedUntil = monotonicNow() + ACCOUNT_PAUSE_MS;
      return 'account';
    }
    if (result.kind !== 'not-sent' && result.kind !== 'throttled') {
      this.#failuresInARow = 0;
      this.#pauses = 0;
      return undefined;
    }
    this.#failuresInARow += 1;
    if (this.#failuresInARow < this.provider.concurrency || this.paused()) return undefined;
    this.#failuresInARow = 0;
    this.#pauses += 1;
    const asked = result.kind === 'throttled' ? Math.min(result.retryAfterMs ?? 0, BREAK.capMs) : 0;
    this.#pausedUntil = monotonicNow() + Math.max(asked, backoffMs(this.#pauses, BREAK));
    return result.kind === 'throttled' ? 'throttled' : 'unreachable';
  }

  #smallestWindow(): number {
    const forAllCalls = 2 * this.provider.concurrency * this.perCall;
    return Math.min(this.settings.claimBatchMax, Math.max(this.settings.claimBatch, forAllCalls));
  }
}
