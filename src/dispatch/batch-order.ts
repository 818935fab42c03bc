/** The order in which the members of a batch stand in its request, the same at every attempt: by operation id, as text. */
export function inBatchOrder<T>(members: readonly T[], operationIdOf: (member: T) => string): T[] {
  return members.toSorted((a, b) => (operationIdOf(a) < operationIdOf(b) ? -1 : 1));
}
