import type { ApiAnswer, KeyHabit } from './api-dialects/dialect.ts';

export type KeyVerdict =
  /** Not seen, and from now on being worked on. */
  | { readonly kind: 'fresh' }
  | { readonly kind: 'replay'; readonly answer: ApiAnswer }
  /** Taken, but left out: the effect is there already. */
  | { readonly kind: 'deduped' }
  | { readonly kind: 'concurrent' | 'mismatch' | 'duplicate' };

interface Kept {
  readonly hash: string;
  readonly at: number;
  answer: ApiAnswer | null;
}

/** What a vendor remembers of keys. A scope is a vendor's account and endpoint. */
export class KeyMemory {
  readonly #kept = new Map<string, Kept>();

  /**
   * @param name scope and key
   * @param forgottenAfterMs shorter memory than the habit's, or null
   */
  consult(habit: KeyHabit, name: string, hash: string, forgottenAfterMs: number | null): KeyVerdict {
    const kept = this.#kept.get(name);
    const windowMs = Math.min(habit.windowMs, forgottenAfterMs ?? Infinity);
    if (kept === undefined || performance.now() - kept.at >= windowMs) {
      this.#kept.set(name, { hash, at: performance.now(), answer: null });
      return { kind: 'fresh' };
    }
    if (habit.comparesPayload && kept.hash !== hash) return { kind: 'mismatch' };
    switch (habit.kind) {
      case 'replay':
        return kept.answer === null ? { kind: 'concurrent' } : { kind: 'replay', answer: kept.answer };
      case 'reject':
        return { kind: 'duplicate' };
      case 'dedupe':
        return { kind: 'deduped' };
    }
  }

  finish(name: string, answer: ApiAnswer): void {
    const kept = this.#kept.get(name);
    if (kept !== undefined) kept.answer = answer;
  }

  /** The request ended without an effect: the key is free again. */
  abandon(name: string): void {
    this.#kept.delete(name);
  }

  clear(): void {
    this.#kept.clear();
  }
}
