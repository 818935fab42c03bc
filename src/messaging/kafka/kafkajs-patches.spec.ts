import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KNOWN_KAFKAJS_VERSION, installedKafkajsVersion, patchRequestQueue } from './kafkajs-patches.ts';

interface Queue {
  throttledUntil: number;
  readonly pending: unknown[];
  push(request: unknown): void;
  checkPendingRequests(): void;
  destroy(): void;
}

const requireHere = createRequire(import.meta.url);

function queueOf(maxInFlightRequests: number): Queue {
  const RequestQueue = requireHere('kafkajs/src/network/requestQueue') as new (options: object) => Queue;
  const logger = { debug: () => undefined, warn: () => undefined };
  return new RequestQueue({ maxInFlightRequests, requestTimeout: 1000, clientId: 'c', broker: 'b', logger });
}

function request(correlationId: number, sent: number[]) {
  return { entry: { correlationId }, expectResponse: true, sendRequest: () => sent.push(correlationId) };
}

describe('kafkajs patched', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    patchRequestQueue();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('K: is the release that the patch was written for, and is patched', () => {
    expect(installedKafkajsVersion()).toBe(KNOWN_KAFKAJS_VERSION);
    expect(patchRequestQueue()).toBe(true);
  });

  it('K: arms no timer when nothing is pending', () => {
    queueOf(1).checkPendingRequests();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('K: still sends what was throttled, when the throttle is over, and then rests', () => {
    const queue = queueOf(5);
    const sent: number[] = [];
    queue.throttledUntil = Date.now() + 5000;
    queue.push(request(1, sent));
    queue.push(request(2, sent));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(4999);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual([1, 2]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
