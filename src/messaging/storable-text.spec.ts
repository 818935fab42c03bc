import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { storableJson, storableText } from './storable-text.ts';

const LONE = '\ud800';

describe('storableText', () => {
  it('leaves ordinary text alone, whatever it looks like', () => {
    for (const text of ['', 'Ada', '😀', 'line\r\n\tbreak', String.raw`\u0000 \ud800`]) {
      expect(storableText(text)).toEqual({ text, escaped: false });
    }
  });

  it('writes U+0000 and lone surrogates as six visible characters and says so', () => {
    expect(storableText(`a\u0000b${LONE}c\udfff😀`)).toEqual({
      text: String.raw`a\u0000b\ud800c\udfff😀`,
      escaped: true,
    });
  });
});

describe('storableJson', () => {
  it('escapes values and names at any depth', () => {
    const { json, escaped } = storableJson({ [`k\u0000`]: [{ a: LONE }, '\u0001'] });
    expect(escaped).toBe(true);
    expect(JSON.parse(json)).toEqual({ [String.raw`k\u0000`]: [{ a: String.raw`\ud800` }, '\u0001'] });
  });

  it('is not taken in by text that looks like an escape', () => {
    const value = { a: String.raw`\u0000`, b: String.raw`\\ud800` };
    expect(storableJson(value)).toEqual({ json: JSON.stringify(value), escaped: false });
    const mixed = storableJson(`${String.raw`\u0000`}\u0000\\${LONE}`);
    expect(mixed).toEqual({ json: String.raw`"\\u0000\\u0000\\\\ud800"`, escaped: true });
  });

  it('gives JSON that PostgreSQL takes, for any value', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) })), (texts) => {
        const { json, escaped } = storableJson(texts);
        const read = JSON.parse(json) as string[];
        const storable = read.every((text) => text.isWellFormed() && !text.includes('\u0000'));
        expect(storable).toBe(true);
        expect(read).toEqual(texts.map((text) => storableText(text).text));
        expect(escaped).toBe(texts.some((text) => storableText(text).escaped));
      }),
    );
  });
});
