import { describe, expect, it, vi } from 'vitest';
import { monotonicNow } from './monotonic.ts';
import { EventLoopDelay } from './event-loop-delay.ts';

function blockFor(ms: number): void {
  const end = monotonicNow() + ms;
  while (monotonicNow() < end);
}

describe('EventLoopDelay', () => {
  it('sees a stall, also for every further reader', async () => {
    const delay = new EventLoopDelay({ windowMs: 60_000 });
    expect(delay.sample()).toEqual({ meanMs: 0, p99Ms: 0, maxMs: 0 });
    delay.start();
    delay.start();
    await vi.waitFor(() => expect(delay.sample().maxMs).toBeGreaterThan(0), { timeout: 5000, interval: 5 });
    blockFor(200);
    await vi.waitFor(() => expect(delay.sample().maxMs).toBeGreaterThan(100), { timeout: 5000, interval: 5 });
    expect(delay.sample().maxMs).toBeGreaterThan(100);
    delay.stop();
  });

  it('still shows a stall in the window after it', async () => {
    const delay = new EventLoopDelay({ windowMs: 300 });
    delay.start();
    await vi.waitFor(() => expect(delay.sample().maxMs).toBeGreaterThan(0), { timeout: 5000, interval: 5 });
    // Longer than a window: the window's timer and the sample are both due, in whichever order.
    blockFor(400);
    await vi.waitFor(() => expect(delay.sample().maxMs).toBeGreaterThan(200), { timeout: 5000, interval: 1 });
    delay.stop();
  });
});
