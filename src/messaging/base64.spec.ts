import { describe, expect, it } from 'vitest';

import { decodeBase64 } from './base64.ts';

describe('decodeBase64', () => {
  it.each([
    ['', ''],
    ['eA==', 'x'],
    ['eHk=', 'xy'],
    ['eHl6', 'xyz'],
    ['/+8=', '\u00ff\u00ef'],
  ])('reads %j', (text, bytes) => {
    expect(decodeBase64(text)?.toString('latin1')).toBe(bytes);
  });

  it.each(['eA', 'eA=', 'e', 'eA==\n', ' eA==', 'e?==', '_-8=', 'eB==', 'eA==eA=='])('refuses %j', (text) => {
    expect(decodeBase64(text)).toBeNull();
  });
});
