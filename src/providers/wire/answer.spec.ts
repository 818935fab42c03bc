import { describe, expect, it } from 'vitest';
import { type Answer, jsonOf, listAt, retryAfterMs, textAt, untilEpochMs, valueAt } from './answer.ts';

const answer = (body: string, whole = true): Answer => ({ status: 200, headers: {}, body: Buffer.from(body), whole });

describe('jsonOf', () => {
  it('keeps the digits of whole numbers that a double cannot hold', () => {
    const json = jsonOf(answer('{"big":1152921504606846977,"small":12,"part":0.5,"list":[-9007199254740993]}'));
    expect(json).toEqual({ big: '1152921504606846977', small: 12, part: 0.5, list: ['-9007199254740993'] });
  });

  it.each(['', '<html>', '{"a":', 'undefined'])('is undefined for %j', (body) =>
    expect(jsonOf(answer(body))).toBeUndefined(),
  );

  it('is undefined for a body that was not read whole', () => expect(jsonOf(answer('{}', false))).toBeUndefined());
});

describe('what is found in JSON', () => {
  const json = { a: [{ id: 7 }, { id: '' }, { id: true }], b: 'text' };

  it('is what stands there itself', () => {
    expect(valueAt(json, 'a', 0, 'id')).toBe(7);
    expect(valueAt(json, 'a', 9, 'id')).toBeUndefined();
    expect(valueAt(json, 'constructor')).toBeUndefined();
    expect(valueAt(json, 'a', 'length')).toBe(3);
    expect(valueAt('text', 'length')).toBeUndefined();
  });

  it('is a text, or a number as text', () => {
    expect(textAt(json, 'a', 0, 'id')).toBe('7');
    expect(textAt(json, 'a', 1, 'id')).toBeNull();
    expect(textAt(json, 'a', 2, 'id')).toBeNull();
    expect(textAt(json, 'b')).toBe('text');
  });

  it('is a list, or none', () => {
    expect(listAt(json, 'a')).toHaveLength(3);
    expect(listAt(json, 'b')).toEqual([]);
  });
});

describe('how long to wait', () => {
  const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

  it.each<[Record<string, string>, number | null]>([
    [{}, null],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '86400' }, 3_600_000],
    [{ 'retry-after': '-1' }, null],
    [{ 'retry-after': '1.5' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '2027' }, 2_027_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:30 GMT' }, 0],
    [{ 'retry-after': 'Wed, 28 Oct 2026 07:28:30 GMT' }, 3_600_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 09:00:05 GMT', date: 'Wed, 21 Oct 2026 09:00:00 GMT' }, 5000],
  ])('%j', (headers, ms) => expect(retryAfterMs({ headers }, now)).toBe(ms));

  it('may be a moment in seconds', () => {
    expect(untilEpochMs(String(now / 1000 + 9), now)).toBe(9000);
    expect(untilEpochMs('60', now)).toBeNull();
    expect(untilEpochMs(undefined, now)).toBeNull();
  });
});
