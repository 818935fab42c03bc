import { describe, expect, it } from 'vitest';
import { isSensitiveKey, maskText, redact } from './redact.ts';

describe('redact', () => {
  it.each(
    'email address to from cc bcc replyTo reply_to recipient Authorization cookie password pass token secret apiKey api-key user subscriberEmail fromAddress client_secret accessToken'.split(
      ' ',
    ),
  )('replaces the value of %s', (key) => {
    expect(redact({ nested: { [key]: 'value' } })).toEqual({ nested: { [key]: '[redacted]' } });
  });

  it.each(['tokenCount', 'addressHash', 'topic', 'state', 'total', 'operationId', 'provider', 'tenant', 'emailsSent'])(
    'keeps the value of %s',
    (key) => {
      expect(isSensitiveKey(key)).toBe(false);
      expect(redact({ [key]: 'value' })).toEqual({ [key]: 'value' });
    },
  );

  it.each([
    ['550 5.1.1 <ann+tag@example.org> unknown', '550 5.1.1 <[redacted]> unknown'],
    ['to "ann smith"@example.org.', 'to [redacted]'],
    ['müller@bücher.example and bob@x', '[redacted] and [redacted]'],
    ['postgres://einmal:s3cr@t@db:5432/einmal', 'postgres://[redacted]@db:5432/einmal'],
    ['connect einmal:hunter2@db failed', 'connect [redacted] failed'],
    ['at 10:15 nothing happened', 'at 10:15 nothing happened'],
    ['key=ann@example.org,', 'key=[redacted],'],
    ['/x/node_modules/@nestjs/core/index.js:12:3', '/x/node_modules/@nestjs/core/index.js:12:3'],
  ])('masks %j', (text, masked) => expect(maskText(text)).toBe(masked));

  it('bounds depth, counts and lengths, and survives cycles', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(JSON.stringify(redact(cycle))).toContain('[deeper]');
    expect(redact(Array.from({ length: 60 }, () => 1))).toHaveLength(51);
    expect(redact(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, i])))).toMatchObject({ more: 10 });
    expect((redact('x'.repeat(9999)) as string).length).toBe(2001);
    expect((redact(`${'a:'.repeat(500_000)}@`) as string).length).toBe(2001);
  });

  it('shows bytes, dates, maps, sets and odd values as text', () => {
    expect(
      redact({
        raw: Buffer.from('ann@example.org'),
        at: new Date(NaN),
        m: new Map([['token', 1]]),
        s: new Set([2n]),
        f: redact,
      }),
    ).toEqual({ raw: '[15 bytes]', at: 'Invalid Date', m: { token: '[redacted]' }, s: ['2'], f: '[function]' });
  });

  it('is not fooled by a __proto__ member', () => {
    const result = redact(JSON.parse('{"__proto__": {"polluted": true}}')) as Record<string, unknown>;
    expect(Object.keys(result)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  });
});
