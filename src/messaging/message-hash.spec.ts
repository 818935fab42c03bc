import { describe, expect, it } from 'vitest';

import { messageHash } from './message-hash.ts';

describe('messageHash', () => {
  it('has 32 bytes, the same for another spelling of the same data', () => {
    const hash = messageHash('t', JSON.parse('{"a":1,"b":"é","c":[1.0]}'));
    expect(hash).toHaveLength(32);
    expect(messageHash('t', JSON.parse('{ "c":[1], "b":"\\u00e9", "a":1e0 }'))).toEqual(hash);
  });

  it('differs by type and by data', () => {
    const hash = messageHash('t', { a: 1 });
    expect(messageHash('u', { a: 1 })).not.toEqual(hash);
    expect(messageHash('t', { a: '1' })).not.toEqual(hash);
    expect(messageHash('t', { a: 1, b: null })).not.toEqual(hash);
  });

  it('takes any text', () => {
    expect(messageHash('t', '\u0000\ud800')).toHaveLength(32);
  });
});
