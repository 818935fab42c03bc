import * as fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { describe, expect, it } from 'vitest';
import { encodeSubject, singleLine } from './subject.ts';

async function readBack(subject: string): Promise<string> {
  const mail = await simpleParser(`Subject: ${encodeSubject(subject)}\r\n\r\n`);
  return mail.subject ?? '';
}

describe('encodeSubject', () => {
  it.each([
    'Plain',
    '',
    'a'.repeat(69),
    'word '.repeat(100).trim(),
    'x'.repeat(1000),
    'Größe und Ähnliches',
    '=?utf-8?q?not_encoded?=',
    'two  spaces',
    '🎉'.repeat(200),
    '👨‍👩‍👧‍👦 family '.repeat(20).trim(),
    '漢字'.repeat(100),
  ])('%.30s is read back as it was', async (subject) => {
    expect(await readBack(subject)).toBe(subject);
    for (const line of `Subject: ${encodeSubject(subject)}`.split('\r\n')) {
      expect(line.length).toBeLessThanOrEqual(86);
      expect(line).toMatch(/^[\x20-\x7e]*$/);
    }
  });

  it('is read back as it was for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const subject = singleLine(text);
        fc.pre(!subject.includes('\ufeff'));
        expect((await readBack(subject)).trim()).toBe(subject);
      }),
      { numRuns: 300 },
    );
  });
});

describe('singleLine', () => {
  it('leaves no way out of the header', () => {
    expect(singleLine('Hi\r\nBcc: x@y.org\0\u2028\u0085z\ud800')).toBe('Hi Bcc: x@y.org z\ufffd');
  });
});
