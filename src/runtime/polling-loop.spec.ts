import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger, type Logger } from '../observability/logger.ts';
import { PollingLoop, type PollingLoopOptions, type RunResult } from './polling-loop.ts';
import { ServiceError } from './service-error.ts';

/** Only timers are faked: a wait is passed by the test, never slept. */
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

type Answer = RunResult | Error;

function loopOf(answers: Answer[], options: Partial<PollingLoopOptions> = {}) {
  let passes = 0;
  const loop = new PollingLoop({
    name: 'test',
    logger: silentLogger,
    idleMs: { min: 100, max: 400 },
    backoff: { baseMs: 1000, capMs: 8000, jitter: () => 1 },
    runOnce: async () => {
      const answer = answers[passes] ?? 'idle';
      passes += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...options,
  });
  return { loop, passes: () => passes };
}

const untilAborted = (signal: AbortSignal): Promise<RunResult> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

/** Lets every promise and immediate that is ready run. */
const settle = async () => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
const pass = async (ms: number) => {
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
};

describe('PollingLoop', () => {
  it('runs again at once while there is more, then waits longer and longer', async () => {
    const { loop, passes } = loopOf(['more', 'more', 'idle']);
    loop.start();
    await settle();
    expect(passes()).toBe(3);
    const after = async (ms: number) => {
      await pass(ms);
      return passes();
    };
    expect([await after(99), await after(1)]).toEqual([3, 4]);
    expect([await after(199), await after(1)]).toEqual([4, 5]);
    expect([await after(399), await after(1)]).toEqual([5, 6]);
    expect([await after(399), await after(1)]).toEqual([6, 7]);
    await loop.stop({ timeoutMs: 10 });
  });

  it('wakes from an idle wait, once for many calls, and starts again from the shortest wait', async () => {
    const { loop, passes } = loopOf([]);
    loop.start();
    await settle();
    await pass(100);
    expect(passes()).toBe(2);
    loop.wake();
    loop.wake();
    await settle();
    expect(passes()).toBe(3);
    await pass(100);
    expect(passes()).toBe(4);
    await loop.stop({ timeoutMs: 10 });
  });

  it('runs again when woken during a run, although that run found nothing', async () => {
    const gate = Promise.withResolvers<RunResult>();
    const runOnce = vi.fn<PollingLoopOptions['runOnce']>().mockReturnValueOnce(gate.promise).mockResolvedValue('idle');
    const { loop } = loopOf([], { runOnce });
    loop.start();
    loop.wake();
    gate.resolve('idle');
    await settle();
    expect(runOnce).toHaveBeenCalledTimes(2);
    await loop.stop({ timeoutMs: 10 });
  });

  it('never overlaps passes', async () => {
    const gate = Promise.withResolvers<RunResult>();
    const runOnce = vi.fn<PollingLoopOptions['runOnce']>(() => gate.promise);
    const { loop } = loopOf([], { runOnce });
    loop.start();
    loop.start();
    loop.wake();
    await pass(100_000);
    expect(runOnce).toHaveBeenCalledTimes(1);
    gate.resolve('idle');
    await loop.stop({ timeoutMs: 10 });
  });

  it('backs off after failures, longer each time, and a wake does not shorten that', async () => {
    const failure = new ServiceError('database-away', 'no', { retryable: true });
    const onError = vi.fn<(error: unknown, failures: number) => void>();
    const { loop, passes } = loopOf([failure, failure, 'idle'], { onError });
    loop.start();
    await settle();
    loop.wake();
    await pass(999);
    expect(passes()).toBe(1);
    expect(loop.health()).toMatchObject({ lastErrorCode: 'database-away', failuresInARow: 1, lastRunAt: null });
    await pass(1);
    expect(passes()).toBe(2);
    await pass(1999);
    expect(passes()).toBe(2);
    await pass(1);
    expect(passes()).toBe(3);
    expect(onError.mock.calls).toEqual([
      [failure, 1],
      [failure, 2],
    ]);
    expect(loop.health()).toMatchObject({ lastErrorCode: null, failuresInARow: 0, lastRunAt: expect.any(Date) });
    await loop.stop({ timeoutMs: 10 });
  });

  it('survives a run that throws before its first await and an onError that throws', async () => {
    const error = vi.fn<Logger['error']>();
    const logger: Logger = { ...silentLogger, child: () => logger, error };
    const runOnce = vi.fn<PollingLoopOptions['runOnce']>(() => {
      throw new TypeError('x');
    });
    const onError = vi.fn<() => void>(() => {
      throw new Error('y');
    });
    const { loop } = loopOf([], { runOnce, onError, logger });
    loop.start();
    await settle();
    await pass(1000);
    expect(runOnce).toHaveBeenCalledTimes(2);
    expect(error.mock.calls.map(([event]) => event)).toContain('loop.on-error-failed');
    await loop.stop({ timeoutMs: 10 });
  });

  describe('stop', () => {
    it('aborts the signal and waits for the pass in hand', async () => {
      const aborted = vi.fn<() => void>();
      const gate = Promise.withResolvers<RunResult>();
      const runOnce = (signal: AbortSignal) => {
        signal.addEventListener('abort', aborted);
        return gate.promise;
      };
      const { loop } = loopOf([], { runOnce });
      loop.start();
      const stopped = vi.fn<(result: string) => void>();
      const stop = loop.stop({ timeoutMs: 5000 }).then(stopped);
      await settle();
      expect(aborted).toHaveBeenCalledTimes(1);
      expect(stopped).not.toHaveBeenCalled();
      gate.resolve('more');
      await stop;
      expect(stopped).toHaveBeenCalledWith('stopped');
      expect(loop.health().running).toBe(false);
    });

    it('gives up after its bound and can be asked again', async () => {
      const gate = Promise.withResolvers<RunResult>();
      const { loop } = loopOf([], { runOnce: () => gate.promise });
      loop.start();
      const stop = loop.stop({ timeoutMs: 5000 });
      await pass(5000);
      expect(await stop).toBe('timed-out');
      expect(loop.health()).toMatchObject({ running: true, currentRunMs: expect.any(Number) });
      gate.resolve('idle');
      expect(await loop.stop({ timeoutMs: 5000 })).toBe('stopped');
      expect(vi.getTimerCount()).toBe(0);
    });

    it.each([
      ['an idle wait', 'idle' as const],
      ['a backoff', new Error('x')],
    ])('ends %s at once', async (_, answer) => {
      const { loop, passes } = loopOf([answer]);
      loop.start();
      await settle();
      expect(await loop.stop({ timeoutMs: 1 })).toBe('stopped');
      expect(passes()).toBe(1);
      expect(vi.getTimerCount()).toBe(0);
    });

    it('does not count the abort of a pass as a failure', async () => {
      const onError = vi.fn<() => void>();
      const { loop } = loopOf([], { runOnce: untilAborted, onError });
      loop.start();
      expect(await loop.stop({ timeoutMs: 1000 })).toBe('stopped');
      expect(onError).not.toHaveBeenCalled();
    });

    it('works before start and forbids a start after it', async () => {
      const { loop } = loopOf([]);
      expect(await loop.stop({ timeoutMs: 1 })).toBe('stopped');
      expect(() => loop.start()).toThrow(ServiceError);
    });
  });
});
