import kafkajs from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type HeartbeatWatchOptions, watchHeartbeats } from './heartbeat-watch.ts';

function watched(options: Partial<HeartbeatWatchOptions> = {}) {
  const heartbeat = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const onLost = vi.fn<() => void>();
  const onOverdue = vi.fn<() => void>();
  const watch = watchHeartbeats({ heartbeat, onLost, onOverdue, intervalMs: 300, deadlineMs: 1000, ...options });
  return { heartbeat, onLost, onOverdue, watch };
}

function refusal(type: string): Error {
  return new kafkajs.KafkaJSProtocolError(Object.assign(new Error('text'), { type, retriable: false }));
}

describe('watchHeartbeats', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('G: goes on until the deadline and not beyond it', async () => {
    const { heartbeat, onOverdue } = watched();
    await vi.advanceTimersByTimeAsync(950);
    const before = heartbeat.mock.calls.length;
    expect(before).toBeGreaterThanOrEqual(3);
    expect(onOverdue).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(5000);
    expect(onOverdue).toHaveBeenCalledTimes(1);
    expect(heartbeat.mock.calls.length).toBe(before);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('H: a rebalance in progress is remembered and does not end the heartbeats', async () => {
    const error = refusal('REBALANCE_IN_PROGRESS');
    const heartbeat = vi.fn<() => Promise<void>>(() => Promise.reject(error));
    const { onLost, watch } = watched({ heartbeat });
    await vi.advanceTimersByTimeAsync(500);
    expect(watch.membershipError()).toBe(error);
    expect(heartbeat.mock.calls.length).toBeGreaterThan(3);
    expect(onLost).not.toHaveBeenCalled();
    watch.stop();
  });

  it('H: a loss is told at once, ends the heartbeats, and outranks a rebalance', async () => {
    const errors = [refusal('REBALANCE_IN_PROGRESS'), refusal('UNKNOWN_MEMBER_ID')];
    const answers = errors.values();
    const heartbeat = vi.fn<() => Promise<void>>(() => Promise.reject(answers.next().value ?? new Error('none left')));
    const { onLost, watch } = watched({ heartbeat });
    await vi.advanceTimersByTimeAsync(800);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(heartbeat).toHaveBeenCalledTimes(2);
    expect(watch.membershipError()).toBe(errors[1]);
  });

  it('C: a broken connection is nobody’s business here', async () => {
    const { onLost, watch } = watched({ heartbeat: () => Promise.reject(new kafkajs.KafkaJSConnectionError('text')) });
    await vi.advanceTimersByTimeAsync(500);
    expect(watch.membershipError()).toBeNull();
    expect(onLost).not.toHaveBeenCalled();
    watch.stop();
  });
});
