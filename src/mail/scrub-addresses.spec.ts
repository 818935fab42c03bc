import { describe, expect, it } from 'vitest';
import { scrubAddresses } from './scrub-addresses.ts';

describe('scrubAddresses', () => {
  it.each([
    ['550 5.1.1 <jane@b.org>: no such user', [], '550 5.1.1 <address>: no such user'],
    ['user jane@b.org\r\nand jörg@bücher.example', [], 'user <address> and <address>'],
    ['250 "a b"@b.org ok', ['"a b"@b.org'], '250 <address> ok'],
    ['550 mailbox JANE unavailable, janet is', ['jane@b.org'], '550 mailbox <address> unavailable, janet is'],
    ['550 a mail to a', ['a@b.org'], '550 a mail to a'],
    ['nul\0 and \u2028 line', [], 'nul  and   line'],
    ['a+b.c* (x', ['a+b.c*@b.org'], '<address> (x'],
  ])('%j', (text, known, expected) => {
    expect(scrubAddresses(text, known)).toBe(expected);
  });

  it('keeps at most what is asked for', () => {
    expect(scrubAddresses('x'.repeat(10_000))).toHaveLength(500);
    expect(scrubAddresses('x'.repeat(10_000), [], 20)).toHaveLength(20);
  });
});
