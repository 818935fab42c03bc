import { describe, expect, it } from 'vitest';
import { deadlineIn, monotonicNow } from './monotonic.ts';

describe('deadlineIn', () => {
  it('counts from the given start and stops at 0', () => {
    let now = 1000;
    const deadline = deadlineIn(500, 900, () => now);
    expect(deadline.remainingMs()).toBe(400);
    expect(deadline.leavesRoomFor(400)).toBe(true);
    expect(deadline.leavesRoomFor(401)).toBe(false);
    expect(deadline.expired()).toBe(false);
    now = 1400;
    expect(deadline.expired()).toBe(true);
    now = 9999;
    expect(deadline.remainingMs()).toBe(0);
  });

  it('uses a clock that does not go back', () => {
    const first = monotonicNow();
    expect(monotonicNow()).toBeGreaterThanOrEqual(first);
  });
});
