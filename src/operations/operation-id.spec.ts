import { describe, expect, it } from 'vitest';

import { operationId } from './operation-id.ts';

/** Computed with uuid.uuid5 of Python: ids must be the same in every language and for ever. */
const vectors: ReadonlyArray<readonly [tenant: string, key: string, id: string]> = [
  ['acme', 'order-17:confirmation', 'ddceba39-b56a-572d-ba24-8e3f0b8efda5'],
  ['a', 'b:c', '248acd55-af63-566a-a6be-793715c22b52'],
  ['a:b', 'c', '5fd4fe55-f769-541e-b54d-cab06d018f67'],
  ['acme', 'über 😀 "q"\n', '438e250c-832f-524d-8375-12ad817485e0'],
];

describe('operationId', () => {
  it.each(vectors)('of tenant %s and key %s', (tenant, key, id) => {
    expect(operationId(tenant, key)).toBe(id);
  });

  it('cannot be moved over from key to tenant', () => {
    expect(operationId('a","b', 'c')).not.toBe(operationId('a', 'b","c'));
  });
});
