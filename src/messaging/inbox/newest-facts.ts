import type { ConsumedEvent } from './consumed-event.ts';

/**
 * One event for each key: the newest by the time of the fact, and of two with the same time the later one in the
 * partition. What is left out would be overwritten in the same transaction.
 */
export function newestFacts<E extends ConsumedEvent>(events: readonly E[], keyOf: (event: E) => string): E[] {
  const newest = new Map<string, E>();
  for (const event of events) {
    const key = keyOf(event);
    const known = newest.get(key);
    if (!known || known.time.getTime() <= event.time.getTime()) newest.set(key, event);
  }
  return [...newest.values()];
}
