import { describe, expect, inject, it } from 'vitest';
import { runFuzz } from './run-fuzz.ts';

describe('bad and good input to both entrances of a real process', () => {
  it('is taken, or refused by field and rule; nothing fails, hangs or stalls', async () => {
    const { bodies, records } = await runFuzz({
      databaseUrl: inject('databaseUrl'),
      kafkaBrokers: inject('kafkaBrokers'),
      bodies: 500,
      records: 500,
      seed: 7,
    });
    expect(bodies.failures).toEqual([]);
    expect(records.failures).toEqual([]);
    expect(bodies.done).toBe(500);
    expect(records.done).toBeGreaterThanOrEqual(500);
    // Each expectation was put to the test.
    expect(bodies.counts).toMatchObject({
      'taken, expected: take': expect.any(Number),
      'refused, expected: refuse': expect.any(Number),
    });
    expect(records.counts).toMatchObject({
      'handled, expected: take': expect.any(Number),
      'dead letter, expected: refuse': expect.any(Number),
      'effects looked for': expect.any(Number),
    });
  }, 240_000);
});
