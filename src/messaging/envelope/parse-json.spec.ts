import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseJson } from './parse-json.ts';

const parse = (text: string, maxDepth = 64) => parseJson(Buffer.from(text, 'utf8'), maxDepth);

/** [what, text, part of the detail] */
const refused: ReadonlyArray<readonly [what: string, text: string, detail: string]> = [
  ['an empty value', '', 'empty'],
  ['broken syntax', '{"email":"ada@example.org",}', 'not JSON'],
  ['plain text', 'hello', 'not JSON'],
  ['an open string', '{"a":"b', 'not JSON'],
  ['two values', '{}{}', 'not JSON'],
  ['a byte order mark', '\ufeff{}', 'byte order mark'],
  ['the framing of a schema registry', '\u0000\u0000\u0000\u0000\u0007{}', 'schema registry'],
  ['a repeated name', '{"a":1,"b":{"c":1,"c":2}}', 'twice'],
  ['a repeated name in another spelling', String.raw`{"a":1,"\u0061":2}`, 'twice'],
  ['a repeated __proto__', '{"__proto__":1,"__proto__":2}', 'twice'],
  ['a number beyond the largest', '[1e400]', 'too large'],
  ['a negative one', '{"a":-1e999}', 'too large'],
  ['a number below the smallest', '[1e-400]', 'too small'],
  ['minus zero', '[-0]', 'minus zero'],
  ['minus zero in another spelling', '[-0.0e5]', 'minus zero'],
  ['an integer that loses digits', '[9007199254740993]', 'more digits'],
  ['a negative one', '[-9007199254740993]', 'more digits'],
  ['a very long one', `[${'1'.repeat(300)}]`, 'more digits'],
];

describe('parseJson', () => {
  it.each(refused)('refuses %s: %s', (_what, text, detail) => {
    const parsed = parse(text);
    expect(parsed).toMatchObject({ ok: false, reason: 'unparseable' });
    expect(parsed.ok ? '' : parsed.detail).toContain(detail);
  });

  it('refuses bytes that are not UTF-8', () => {
    const bytes = [
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    ];
    for (const value of bytes) {
      expect(parseJson(value, 64)).toEqual({ ok: false, reason: 'unparseable', detail: 'the value is not UTF-8' });
    }
  });

  it.each([
    '0',
    '[0,0.5,1e21,5e-324,9007199254740992,9007199254740994,123456789012345680000,0e5,0.0]',
    '{"a:b":"{[\\"","c":["\\\\","\\\\\\"",":"],"d":-1.5e-3}',
    '{"a":{"a":{"a":[{"a":1},{"a":2}]}}}',
    String.raw`"\ud800\u0000"`,
  ])('reads %s', (text) => {
    expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('reads to the depth allowed and not one deeper', () => {
    expect(parse('[{"a":[]}]', 3).ok).toBe(true);
    expect(parse('[{"a":[[]]}]', 3)).toMatchObject({ ok: false, reason: 'too-deep' });
    expect(parse(`${'['.repeat(64)}${']'.repeat(64)}`).ok).toBe(true);
  });

  it('refuses any nesting without trouble for the stack', () => {
    for (const depth of [1000, 500_000]) {
      expect(parse('{"a":['.repeat(depth))).toMatchObject({ ok: false, reason: 'too-deep' });
    }
  });

  it('keeps a member named __proto__ harmless', () => {
    const parsed = parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    expect(parsed.ok).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(parsed.ok ? Object.keys(parsed.value as object) : []).toEqual(['__proto__', 'constructor']);
  });

  it('repeats nothing of the data in a refusal', () => {
    const parsed = parse('{"to":"ada@example.org" "x"}');
    expect(parsed.ok ? '' : parsed.detail).toMatch(/^the data is not JSON( \(character \d+\))?$/);
  });

  it('agrees with JSON.parse on everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(parseJson(Buffer.from(bytes), 8)).toHaveProperty('ok');
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'{}[]":,\\-+.eE019 '.split(''))), (pieces) => {
        expect(parse(pieces.join(''))).toHaveProperty('ok');
      }),
    );
  });
});
