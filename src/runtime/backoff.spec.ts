import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, LONGEST_TIMER_MS } from './backoff.ts';

const failures = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1_000_000 }));
const jitter = fc.double({ min: 0, max: 1, noNaN: true });

describe('backoffMs', () => {
  it('is a whole number between half of the bound and the bound, for any count of failures', () => {
    fc.assert(
      fc.property(failures, fc.nat(60_000), fc.nat(10_000_000), jitter, (n, baseMs, capMs, r) => {
        const wait = backoffMs(n, { baseMs, capMs, jitter: () => r });
        const bound = Math.min(capMs, baseMs * 2 ** Math.min(n - 1, 1000));
        expect(Number.isSafeInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(Math.floor(bound / 2));
        expect(wait).toBeLessThanOrEqual(bound);
      }),
    );
  });

  it('never shrinks with more failures under the same jitter', () => {
    fc.assert(
      fc.property(failures, jitter, (n, r) => {
        const options = { baseMs: 100, capMs: 3_600_000, jitter: () => r };
        expect(backoffMs(n + 1, options)).toBeGreaterThanOrEqual(backoffMs(n, options));
      }),
    );
  });

  it('fits a timer whatever it is given', () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), fc.double(), fc.double(), (n, baseMs, capMs, r) => {
        const wait = backoffMs(n, { baseMs, capMs, jitter: () => r });
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(LONGEST_TIMER_MS);
      }),
    );
  });

  it('does not wait without a failure', () => {
    expect(backoffMs(0, { baseMs: 100, capMs: 1000 })).toBe(0);
  });
});
