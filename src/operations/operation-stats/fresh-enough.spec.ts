import { describe, expect, it } from 'vitest';
import { FreshEnough } from './fresh-enough.ts';

/** A clock of one's own, and readings that take as long as they are told. */
function stand(freshMs: number) {
  const clock = { now: 0 };
  const takes: number[] = [];
  const state = { fails: false };
  let readings = 0;
  const value = new FreshEnough(
    freshMs,
    async () => {
      readings += 1;
      clock.now += takes.shift() ?? 0;
      await Promise.resolve();
      if (state.fails) throw new Error(`reading ${readings}`);
      return readings;
    },
    () => clock.now,
  );
  return { clock, takes, state, value, readings: () => readings };
}

describe('a value that is fresh enough', () => {
  it('is read once for all who ask at once', async () => {
    const { value, readings } = stand(1000);
    const kept = await Promise.all([value.get(), value.get(), value.get()]);
    expect(kept.map((each) => each.value)).toEqual([1, 1, 1]);
    expect(readings()).toBe(1);
  });

  it('is read again after its time, while those who ask get the last one', async () => {
    const { clock, value, readings } = stand(1000);
    await value.get();
    clock.now += 999;
    expect((await value.get()).value).toBe(1);
    expect(readings()).toBe(1);
    clock.now += 1;
    expect((await value.get()).value).toBe(1);
    expect(readings()).toBe(2);
    await expect.poll(async () => (await value.get()).value).toBe(2);
    expect(readings()).toBe(2);
  });

  it('is read the less often the longer it takes', async () => {
    const { clock, takes, value, readings } = stand(1000);
    takes.push(500);
    await value.get();
    clock.now += 49_999;
    await value.get();
    expect(readings()).toBe(1);
    clock.now += 1;
    await value.get();
    expect(readings()).toBe(2);
  });

  it('that cannot be read is not tried for every one who asks', async () => {
    const { clock, state, value, readings } = stand(1000);
    state.fails = true;
    await expect(value.get()).rejects.toThrow('reading 1');
    await expect(value.get()).rejects.toThrow('reading 1');
    expect(readings()).toBe(1);
    clock.now += 1000;
    state.fails = false;
    expect((await value.get()).value).toBe(2);
  });

  it('stays when it cannot be read again', async () => {
    const { clock, state, value } = stand(1000);
    await value.get();
    state.fails = true;
    clock.now += 1000;
    expect((await value.get()).value).toBe(1);
    expect((await value.get()).value).toBe(1);
  });
});
