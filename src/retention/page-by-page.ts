import type { RunResult } from '../runtime/polling-loop.ts';

/**
 * Takes one page of a sweep at each call, and begins a new sweep when one is over (`idle`) or has failed: what a sweep has done is
 * done, so nothing is lost with its place.
 */
export function pageByPage(sweep: () => AsyncGenerator<void, void, undefined>): () => Promise<RunResult> {
  let current: AsyncGenerator<void, void, undefined> | null = null;
  return async () => {
    const running = (current ??= sweep());
    try {
      const { done } = await running.next();
      if (done !== true) return 'more';
    } catch (error) {
      current = null;
      throw error;
    }
    current = null;
    return 'idle';
  };
}
