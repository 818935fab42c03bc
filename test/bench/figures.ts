/** @throws Error for no values */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  if (low === undefined || high === undefined) throw new Error('no values to take the median of');
  return (low + high) / 2;
}

export function rounded(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

/** Which of two sides goes first in a run: they take turns, so that neither always meets the quieter machine. */
export function ordered<T>(run: number, one: T, other: T): readonly [T, T] {
  return run % 2 === 0 ? [one, other] : [other, one];
}
