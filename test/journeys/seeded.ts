/** Random draws that a seed repeats. */
export interface Draws {
  /** 0 up to 1. */
  next(): number;
  between(low: number, high: number): number;
  /** A copy in another order. */
  shuffled<T>(items: readonly T[]): T[];
}

/** Linear congruential generator modulo 2^32 (Numerical Recipes constants): enough to scatter kills, and repeatable. */
export function seededDraws(seed: number): Draws {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    shuffled: (items) =>
      items
        .map((item) => ({ item, rank: next() }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
  };
}
