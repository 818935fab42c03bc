import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMicroBatch } from './micro-batch.ts';

/** A run that records its batches and ends each one when the test says so. */
function controlled() {
  const batches: { items: readonly number[]; end: () => void; fail: (error: Error) => void }[] = [];
  let announce = Promise.withResolvers<void>();
  const run = (items: readonly number[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      batches.push({ items, end: () => resolve(items.map((n) => `r${n}`)), fail: reject });
      announce.resolve();
      announce = Promise.withResolvers();
    });
  const batch = async (index: number) => {
    while (batches[index] === undefined) await announce.promise;
    return batches[index];
  };
  return { run, batch, batches };
}

describe('createMicroBatch', () => {
  it('gathers what arrives during a run into the next one', async () => {
    const { run, batch, batches } = controlled();
    const ask = createMicroBatch({ maxSize: 100, run });
    const first = ask(1);
    const running = await batch(0);
    const later = [ask(2), ask(3), ask(4)];
    expect(batches).toHaveLength(1);
    running.end();
    expect(await first).toBe('r1');
    (await batch(1)).end();
    expect(await Promise.all(later)).toEqual(['r2', 'r3', 'r4']);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
  });

  it('puts what arrives in the same turn into one run, bounded by maxSize', async () => {
    const { run, batch } = controlled();
    const ask = createMicroBatch({ maxSize: 2, run });
    const all = Promise.all([ask(1), ask(2), ask(3)]);
    const first = await batch(0);
    expect(first.items).toEqual([1, 2]);
    first.end();
    const second = await batch(1);
    expect(second.items).toEqual([3]);
    second.end();
    expect(await all).toEqual(['r1', 'r2', 'r3']);
  });

  it('lets a lone item go at once, and under load waits for as many as are worth a run', async () => {
    const { run, batch, batches } = controlled();
    const ask = createMicroBatch({ maxSize: 100, gather: { ms: 3_600_000, size: 3 }, run });
    const all = [ask(1)];
    (await batch(0)).end();
    await all[0];
    all.push(ask(2), ask(3));
    await new Promise((resolve) => setImmediate(resolve));
    expect(batches).toHaveLength(1);
    all.push(ask(4));
    (await batch(1)).end();
    expect(await Promise.all(all)).toEqual(['r1', 'r2', 'r3', 'r4']);
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
  });

  it('waits for company no longer than it is told to', async () => {
    const { run, batch } = controlled();
    const ask = createMicroBatch({ maxSize: 100, gather: { ms: 20, size: 3 }, run });
    const first = ask(1);
    (await batch(0)).end();
    await first;
    const alone = ask(2);
    (await batch(1)).end();
    expect(await alone).toBe('r2');
  });

  it('rejects only the items of the failed run and goes on', async () => {
    const { run, batch } = controlled();
    const ask = createMicroBatch({ maxSize: 2, run });
    const all = Promise.allSettled([ask(1), ask(2), ask(3)]);
    (await batch(0)).fail(new Error('connection lost'));
    (await batch(1)).end();
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('rejects the items when run throws at once or gives another count of results', async () => {
    const throwing = createMicroBatch<number, string>({
      maxSize: 5,
      run: () => {
        throw new Error('at once');
      },
    });
    await expect(throwing(1)).rejects.toThrow('at once');
    const short = createMicroBatch<number, string>({ maxSize: 5, run: () => Promise.resolve([]) });
    await expect(short(1)).rejects.toMatchObject({ code: 'micro-batch-result-count' });
  });

  it('uses at most the given lanes', async () => {
    const { run, batch, batches } = controlled();
    const ask = createMicroBatch({ maxSize: 1, lanes: 2, run });
    const all = Promise.all([ask(1), ask(2), ask(3)]);
    (await batch(1)).end();
    const third = await batch(2);
    expect(batches[0]?.items).toEqual([1]);
    third.end();
    batches[0]?.end();
    expect(await all).toEqual(['r1', 'r2', 'r3']);
  });

  it('drains: at once when idle, after the last result otherwise', async () => {
    const { run, batch } = controlled();
    const ask = createMicroBatch({ maxSize: 1, run });
    await ask.drain();
    const settled: number[] = [];
    const asked = [1, 2].map(async (n) => {
      await ask(n);
      settled.push(n);
    });
    expect(ask.size()).toBe(2);
    const drained = ask.drain();
    (await batch(0)).end();
    (await batch(1)).end();
    await drained;
    expect(ask.size()).toBe(0);
    await Promise.all(asked);
    expect(settled).toEqual([1, 2]);
  });

  it('gives every item its own result, never over a limit', async () => {
    const limits = fc.record({ maxSize: fc.integer({ min: 1, max: 7 }), lanes: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(fc.nat(), { maxLength: 60 }), async ({ maxSize, lanes }, items) => {
        let inFlight = 0;
        const ask = createMicroBatch<number, number>({
          maxSize,
          lanes,
          run: async (batch) => {
            inFlight += 1;
            expect(batch.length).toBeLessThanOrEqual(maxSize);
            expect(inFlight).toBeLessThanOrEqual(lanes);
            await Promise.resolve();
            inFlight -= 1;
            return batch.map((n) => n * 2);
          },
        });
        expect(await Promise.all(items.map((n) => ask(n)))).toEqual(items.map((n) => n * 2));
      }),
      { numRuns: 50 },
    );
  });
});
