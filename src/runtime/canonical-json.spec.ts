import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ServiceError } from '../runtime/service-error.ts';
import { canonicalJson } from './canonical-json.ts';

/** IEEE 754 bits and their text, RFC 8785 appendix B. */
const numbers: ReadonlyArray<readonly [bits: string, text: string]> = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555555', '333333333.3333333'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'nothing thrown';
  } catch (error) {
    return error instanceof ServiceError ? error.code : 'another error';
  }
}

describe('canonicalJson', () => {
  it.each(numbers)('writes the number %s as %s', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text);
  });

  it('writes the sample of RFC 8785, section 3.2.2', () => {
    const source = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(JSON.parse(source))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts by UTF-16 code units, as in RFC 8785, section 3.2.3', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6'];
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'];
    const canonical = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    expect(canonical).toBe(`{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`);
  });

  it('sorts names that look like numbers as text', () => {
    expect(canonicalJson({ 9: 0, 10: 0, a: 0 })).toBe('{"10":0,"9":0,"a":0}');
  });

  it('keeps a member named __proto__ as any other', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":2}}'))).toBe('{"__proto__":{"x":2},"b":1}');
  });

  it('leaves undefined members out and refuses what JSON cannot hold', () => {
    expect(canonicalJson({ a: undefined, b: null })).toBe('{"b":null}');
    for (const value of [[undefined], Number.NaN, Infinity, 1n, Symbol('s'), new Date(0), () => 0, undefined]) {
      expect(codeOf(() => canonicalJson(value))).toBe('not-canonical');
    }
  });

  it('refuses a cycle instead of running out of stack', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(codeOf(() => canonicalJson(cycle))).toBe('not-canonical');
  });

  it('refuses lone surrogates in values and names, or writes their escape when asked to', () => {
    expect(codeOf(() => canonicalJson('\ud800'))).toBe('not-canonical');
    expect(codeOf(() => canonicalJson({ '\udc00': 1 }))).toBe('not-canonical');
    expect(canonicalJson({ '\udc00': '\ud83d' }, 'escape')).toBe(String.raw`{"\udc00":"\ud83d"}`);
    expect(canonicalJson('\u{1f600}')).toBe('"\u{1f600}"');
  });

  it('is stable: what it writes reads as the same value and is written the same again', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const once = canonicalJson(value);
        expect(canonicalJson(JSON.parse(once))).toBe(once);
      }),
    );
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.integer()), (members) => {
        const reversed = Object.fromEntries(Object.entries(members).toReversed());
        expect(canonicalJson(reversed, 'escape')).toBe(canonicalJson(members, 'escape'));
      }),
    );
  });
});
