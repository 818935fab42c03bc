import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PartitionPauses, type PausableConsumer } from './partition-pauses.ts';

function paused() {
  const told: string[] = [];
  const tell = (what: string) => (parts: { partitions: number[] }[]) =>
    void told.push(`${what} ${parts[0]?.partitions[0]}`);
  const consumer: PausableConsumer = { pause: tell('pause'), resume: tell('resume') };
  const onResumed = vi.fn<(partition: number) => void>();
  return { told, onResumed, pauses: new PartitionPauses('t', consumer, onResumed) };
}

function gone(): never {
  throw new Error('not running');
}

describe('PartitionPauses', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('L: resumes when the time is over, and a second wait replaces the first', () => {
    const { told, pauses, onResumed } = paused();
    pauses.hold(1, 1000);
    pauses.hold(1, 3000);
    vi.advanceTimersByTime(2999);
    expect(told).toEqual(['pause 1', 'pause 1']);
    vi.advanceTimersByTime(1);
    expect(told.at(-1)).toBe('resume 1');
    expect(onResumed).toHaveBeenCalledWith(1);
    expect(pauses.until(1)).toBeNull();
  });

  it('L: after a join keeps what is still ours waiting and lets go of the rest', () => {
    const { told, pauses } = paused();
    pauses.hold(1, 1000);
    pauses.hold(2, 1000);
    told.length = 0;
    pauses.onJoined([2, 3]);
    expect(told).toEqual(['resume 1', 'pause 2']);
    expect(pauses.until(1)).toBeNull();
    expect(pauses.until(2)).not.toBeNull();
    expect(vi.getTimerCount()).toBe(1);
  });

  it('fits a wait of any length into a timer, and forgets all when cleared', () => {
    const { told, pauses } = paused();
    pauses.hold(1, Number.POSITIVE_INFINITY);
    vi.advanceTimersByTime(86_400_000);
    expect(told).toEqual(['pause 1']);
    pauses.clear();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('B: a consumer that has ended meanwhile is no error', () => {
    const pauses = new PartitionPauses('t', { pause: gone, resume: gone }, () => undefined);
    expect(() => pauses.hold(1, 10)).not.toThrow();
    expect(() => vi.advanceTimersByTime(10)).not.toThrow();
  });
});
