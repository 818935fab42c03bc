import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressHash, parseAddress, parseDomain } from './address.ts';

describe('parseAddress', () => {
  it.each([
    ['Jane.Doe+news@GMAIL.com', 'Jane.Doe+news@gmail.com', 'jane.doe+news@gmail.com', false],
    ['  a@b.org ', 'a@b.org', 'a@b.org', false],
    ['\u00a0a@b.org\u3000', 'a@b.org', 'a@b.org', false],
    ['"Jane"@b.org', 'Jane@b.org', 'jane@b.org', false],
    ['"j\\ane"@b.org', 'jane@b.org', 'jane@b.org', false],
    ['"A b"@b.org', '"A b"@b.org', '"a b"@b.org', false],
    ['"a..b"@b.org', '"a..b"@b.org', '"a..b"@b.org', false],
    ['"a\\"b\\\\"@b.org', '"a\\"b\\\\"@b.org', '"a\\"b\\\\"@b.org', false],
    ['"x@evil.example x"@good.example', '"x@evil.example x"@good.example', '"x@evil.example x"@good.example', false],
    ['a@bücher.example', 'a@xn--bcher-kva.example', 'a@xn--bcher-kva.example', false],
    ['a@XN--BCHER-KVA.example', 'a@xn--bcher-kva.example', 'a@xn--bcher-kva.example', false],
    ['a@faß.example', 'a@xn--fa-hia.example', 'a@xn--fa-hia.example', false],
    ['a@ｂ.org', 'a@b.org', 'a@b.org', false],
    ['a@b\u3002org', 'a@b.org', 'a@b.org', false],
    ['JÖRG@b.org', 'JÖRG@b.org', 'jörg@b.org', true],
    ['Jo\u0308rg@b.org', 'Jörg@b.org', 'jörg@b.org', true],
    ['\u0130@b.org', '\u0130@b.org', 'i\u0307@b.org', true],
    ['ΑΣ@b.org', 'ΑΣ@b.org', 'ασ@b.org', true],
    ["o'brien_{x}|~!#$%&*+/=?^`-@b.org", "o'brien_{x}|~!#$%&*+/=?^`-@b.org", "o'brien_{x}|~!#$%&*+/=?^`-@b.org", false],
    [`${'x'.repeat(64)}@b.org`, `${'x'.repeat(64)}@b.org`, `${'x'.repeat(64)}@b.org`, false],
  ])('takes %s', (input, send, key, smtputf8) => {
    expect(parseAddress(input)).toEqual({ ok: true, raw: input.trim(), send, key, keyVersion: 1, smtputf8 });
  });

  it.each([
    ['', 'the address is empty'],
    ['nobody', 'the address has no @'],
    ['@b.org', 'the local part is empty'],
    ['""@b.org', 'the local part is empty'],
    ['a@', 'the domain is missing'],
    ['a@b', 'the domain has only one label'],
    ['a@b.org.', 'the domain ends with a dot'],
    ['a@b.org\u3002', 'the domain ends with a dot'],
    ['a@b..org', 'the domain is not a valid domain name'],
    ['a@-b.org', 'the domain is not a valid domain name'],
    ['a@b_c.org', 'the domain is not a valid domain name'],
    ['a@xn--a.org', 'the domain is not a valid domain name'],
    [`a@${'b'.repeat(64)}.org`, 'the domain is not a valid domain name'],
    ['a@1.2.3.4', 'the domain ends with a number'],
    ['a@[1.2.3.4]', 'an address literal stands where a domain name is expected'],
    ['a@b.org\r\nBcc: x@y.org', 'the address holds a control character'],
    ['a@b.org\n', 'the address holds a control character'],
    ['a\0@b.org', 'the address holds a control character'],
    ['a\u0085@b.org', 'the address holds a control character'],
    ['a\u2028@b.org', 'the address holds a control character'],
    ['a\u200b@b.org', 'the local part holds an invisible or private character'],
    ['a\u202e@b.org', 'the local part holds an invisible or private character'],
    ['a\ud800@b.org', 'the local part holds an invisible or private character'],
    ['"a\ud800"@b.org', 'the local part holds an invisible or private character'],
    ['a b@b.org', 'the local part holds white space without quotes'],
    ['.a@b.org', 'the local part has a dot at an end or two dots in a row'],
    ['a.@b.org', 'the local part has a dot at an end or two dots in a row'],
    ['a..b@b.org', 'the local part has a dot at an end or two dots in a row'],
    ['a(c)@b.org', 'the local part holds a character that needs quotes'],
    ['"a<b"@b.org', 'the local part holds angle brackets'],
    ['a@b.org,c@d.org', 'more than one address is given'],
    ['a@b.org; c@d.org', 'more than one address is given'],
    ['"a"@b.org,c@d.org', 'more than one address is given'],
    ['a@b@c.org', 'the address has more than one @'],
    ['Jane <a@b.org>', 'a display name or angle brackets stand where a bare address is expected'],
    [`${'x'.repeat(65)}@b.org`, 'the local part is longer than 64 octets'],
    [`${'ö'.repeat(33)}@b.org`, 'the local part is longer than 64 octets'],
    [
      `${'x'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(20)}.org`,
      'the address is longer than 254 octets',
    ],
    ['x'.repeat(1_000_000), 'the address is longer than 254 octets'],
  ])('refuses %j', (input, rule) => {
    expect(parseAddress(input)).toEqual({ ok: false, rule });
  });

  const LETTERS = Array.from(`aAzZ09äÖßİıΑΣςſKéñ漢字éoö!#$%&'*+/=?^_\`{|}~-. "\\@`);
  const local = fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 20 });
  const domain = fc.constantFrom('B.org', 'BÜCHER.example', 'faß.example', 'a-b.c.example', 'ｘ.org');
  const address = fc.tuple(local, domain, fc.boolean()).map(([part, host, quoted]) => {
    return `${quoted ? `"${part.replaceAll(/["\\]/g, '\\$&')}"` : part}@${host}`;
  });

  it('gives the same forms again for its own result', () => {
    fc.assert(
      fc.property(address, (input) => {
        const first = parseAddress(input);
        fc.pre(first.ok);
        const again = parseAddress(first.send);
        expect(again).toEqual({ ...first, raw: first.send });
        const ofKey = parseAddress(first.key);
        expect(!ofKey.ok || ofKey.key === first.key).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives one key to every way to write the case', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9]{1,10}(\.[a-z0-9]{1,5})?$/),
        fc.infiniteStream(fc.boolean()),
        (part, upper) => {
          const twin = Array.from(part)
            .map((letter) => (upper.next().value === true ? letter.toUpperCase() : letter))
            .join('');
          const one = parseAddress(`${part}@b.org`);
          const two = parseAddress(`${twin}@B.ORG`);
          expect(one.ok && two.ok && one.key === two.key && two.send === `${twin}@b.org`).toBe(true);
        },
      ),
    );
  });

  it('never throws and never repeats the address in the rule', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (left, right) => {
        const parsed = parseAddress(`secret${left}@${right}`);
        expect(parsed.ok || !parsed.rule.includes('secret')).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('addressHash', () => {
  it('is the SHA-256 of the key', () => {
    expect(addressHash('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('parseDomain', () => {
  it('gives A-labels', () => {
    expect(parseDomain('Bücher.Example')).toEqual({ ok: true, value: 'xn--bcher-kva.example' });
    expect(parseDomain('')).toEqual({ ok: false, rule: 'the domain is missing' });
  });
});
