import * as fc from 'fast-check';
import type { KafkaMessage } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { splitBatch } from './split-batch.ts';

function message(offset: number, bytes: number): KafkaMessage {
  const common = { key: null, timestamp: '1000', attributes: 0, headers: {} };
  return { ...common, offset: String(offset), value: Buffer.alloc(bytes) };
}

function runsOf(sizes: readonly number[], maxRecords: number, maxBytes: number) {
  const messages = sizes.map((bytes, offset) => message(offset, bytes));
  return [...splitBatch({ topic: 't', partition: 0, messages }, { maxRecords, maxBytes })];
}

describe('splitBatch', () => {
  it('keeps every record, in order, within both limits', () => {
    const sizes = fc.array(fc.nat(3000), { maxLength: 60 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5000 }), (given, most, bytes) => {
        const runs = runsOf(given, most, bytes);
        expect(runs.flat().map(({ offset }) => Number(offset))).toEqual(given.map((_, index) => index));
        for (const run of runs) {
          expect(run.length).toBeGreaterThan(0);
          expect(run.length).toBeLessThanOrEqual(most);
          const size = run.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
          expect(run.length === 1 || size <= bytes).toBe(true);
        }
      }),
    );
  });

  it('keeps what came over the wire in the headers and nothing else', () => {
    const headers = { a: [Buffer.from('1'), Buffer.from('2')], b: null, toString: [() => '', Buffer.from('3')] };
    const messages = [{ ...message(0, 1), headers } as unknown as KafkaMessage];
    const [run] = [...splitBatch({ topic: 't', partition: 0, messages }, { maxRecords: 1, maxBytes: 1000 })];
    expect(run?.[0]?.headers).toEqual([
      ['a', Buffer.from('1')],
      ['a', Buffer.from('2')],
      ['b', Buffer.alloc(0)],
      ['toString', Buffer.from('3')],
    ]);
  });
});
