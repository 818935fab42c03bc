import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { halves, sliceBySize } from './slice-records.ts';

describe('sliceBySize', () => {
  it('keeps every record, in order, in slices that fit or hold one record', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2000), { maxLength: 50 }), fc.integer({ min: 1, max: 6000 }), (sizes, maxBytes) => {
        const records = sizes.map((bytes) => ({ key: 'k', value: Buffer.alloc(bytes), headers: { h: ['v', 'w'] } }));
        const slices = sliceBySize(records, maxBytes);
        expect(slices.flat()).toEqual(records);
        for (const slice of slices) {
          const bytes = slice.reduce((sum, { value }) => sum + value.length, 0);
          expect(slice.length === 1 || (slice.length > 1 && bytes <= maxBytes)).toBe(true);
        }
      }),
    );
  });

  it('halves in order, the first half the longer one', () => {
    expect(halves([1, 2, 3])).toEqual([[1, 2], [3]]);
  });
});
