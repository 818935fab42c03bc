import { describe, expect, it } from 'vitest';

import { contractOf } from './registry.ts';
import type { EventType } from './registry.ts';
import { problemsInWords, validate } from './validate.ts';

const HASH = `sha256:${'0a'.repeat(32)}`;

/** The example of a type with some members replaced (or, undefined, left out), as it would be received. */
function verdict(type: EventType, changes: Record<string, unknown>): string {
  const contract = contractOf(type);
  const data: unknown = JSON.parse(JSON.stringify({ ...contract.example, ...changes }));
  const result = validate(contract, data);
  return result.ok ? 'ok' : problemsInWords(result.problems);
}

const subscriber = (changes: Record<string, unknown>): string => verdict('einmal.subscriber.upserted.v1', changes);
const campaign = (changes: Record<string, unknown>): string =>
  verdict('einmal.campaign.revision-submitted.v1', changes);
const operation = (changes: Record<string, unknown>): string => verdict('einmal.operation.requested.v1', changes);

const mail = { to: 'ada@example.org', subject: 'Hi', text: 'x' };
const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const members = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));

describe('limits of text', () => {
  it.each([
    ['an id of 256 characters', { subscriberId: 'x'.repeat(256) }, 'ok'],
    ['one of 257', { subscriberId: 'x'.repeat(257) }, 'subscriberId: must be at most 256 characters long'],
    ['an empty one', { subscriberId: '' }, 'subscriberId: must be at least 1 characters long'],
    ['a number', { subscriberId: 7 }, 'subscriberId: must be of type string'],
    ['a NUL', { subscriberId: 'a\u0000' }, 'subscriberId: must not hold control characters or lone surrogates'],
    [
      'a lone surrogate',
      { subscriberId: 'a\ud800' },
      'subscriberId: must not hold control characters or lone surrogates',
    ],
    ['a pair', { subscriberId: '😀' }, 'ok'],
    [
      'an address with a line break',
      { email: 'ada@example.org\r\nBcc: x@example.org' },
      'email: must not hold control characters or lone surrogates',
    ],
    ['no address', { email: 'ada' }, 'email: must be an address: a local part, @ and a domain'],
    ['a quoted local part', { email: '"a@b"@example.org' }, 'ok'],
    ['an unknown word', { status: 'gone' }, 'status: must be pending, confirmed, unsubscribed'],
    ['200 lists', { lists: Array.from({ length: 200 }, () => 'l') }, 'ok'],
    ['201 lists', { lists: Array.from({ length: 201 }, () => 'l') }, 'lists: must be at most 200 entries long'],
    ['a list with a bad id', { lists: ['a', 'b\n'] }, 'lists[1]: must not hold control characters or lone surrogates'],
    ['a locale', { locale: 'de-Latn-CH' }, 'ok'],
    ['no locale', { locale: 'de_CH' }, 'locale: must be a language tag such as de-CH'],
  ])('%s', (_what, changes, expected) => {
    expect(subscriber(changes)).toBe(expected);
  });
});

describe('limits of attributes', () => {
  it.each([
    ['200 members', members(200), 'ok'],
    ['201 members', members(201), 'attributes: must have at most 200 members'],
    ['16 levels', nested(16), 'ok'],
    ['17 levels', nested(17), 'attributes: must not be nested deeper than 16'],
    ['32 KiB', { a: 'x'.repeat(32 * 1024 - 8) }, 'ok'],
    ['a byte more', { a: 'x'.repeat(32 * 1024 - 7) }, 'attributes: must not take more than 32768 bytes as JSON'],
    [
      '32 KiB counted in UTF-8',
      { a: 'é'.repeat(16 * 1024) },
      'attributes: must not take more than 32768 bytes as JSON',
    ],
    ['a list', [], 'attributes: must be an object'],
    ['null', null, 'attributes: must be an object'],
    ['text that PostgreSQL cannot store', { a: '\u0000\ud800' }, 'ok'],
  ])('%s', (_what, attributes, expected) => {
    expect(subscriber({ attributes })).toBe(expected);
  });

  it('keeps a member named __proto__ without effect', () => {
    const contract = contractOf('einmal.subscriber.upserted.v1');
    const data = { ...contract.example, attributes: JSON.parse('{"__proto__":{"polluted":true}}') as object };
    const result = validate(contract, data);
    expect(result.ok && Object.keys(result.data.attributes)).toEqual(['__proto__']);
    expect(subscriber(JSON.parse('{"status":"pending"}') as Record<string, unknown>)).toBe('ok');
  });
});

describe('rules of campaigns', () => {
  it.each([
    ['512 KiB of HTML', { html: 'x'.repeat(512 * 1024) }, 'ok'],
    ['a byte more', { html: 'x'.repeat(512 * 1024 + 1) }, 'html: must not take more than 524288 bytes in UTF-8'],
    [
      '512 KiB counted in UTF-8',
      { html: 'é'.repeat(256 * 1024 + 1) },
      'html: must not take more than 524288 bytes in UTF-8',
    ],
    ['free content', { html: '\u0000\ud800' }, 'ok'],
    [
      'a subject with a line break',
      { subject: 'a\nb' },
      'subject: must not hold control characters or lone surrogates',
    ],
    [
      'a sender with one',
      { from: 'x\r\n <a@example.org>' },
      'from: must not hold control characters or lone surrogates',
    ],
    ['revision 0', { revision: 0 }, 'revision: must be at least 1'],
    ['half a revision', { revision: 1.5 }, 'revision: must be of type int'],
    ['an audience of no list', { audience: { lists: [] } }, 'audience.lists: must be at least 1 entries long'],
    ['conditions', { audience: { lists: ['a'], where: { plan: ['pro', null], vip: true, age: 7, none: '' } } }, 'ok'],
    [
      'a nested condition',
      { audience: { lists: ['a'], where: { plan: { in: [] } } } },
      'audience.where.plan: has none of the allowed forms',
    ],
    ['too many', { audience: { lists: ['a'], where: members(51) } }, 'audience.where: must have at most 50 conditions'],
    [
      'a time without offset',
      { scheduledFor: '2026-12-01T08:00:00' },
      'scheduledFor: must be an RFC 3339 time with offset, 1970 to 9999',
    ],
    [
      'a day that is not',
      { scheduledFor: '2026-02-30T08:00:00Z' },
      'scheduledFor: must be an RFC 3339 time with offset, 1970 to 9999',
    ],
    ['no rate', { rate: 0 }, 'rate: must be more than 0'],
  ])('%s', (_what, changes, expected) => {
    expect(campaign(changes)).toBe(expected);
  });
});

describe('rules of operations', () => {
  it.each([
    ['any key', { operationKey: `a\r\n\t"/:${'😀'.repeat(200)}` }, 'ok'],
    ['512 characters', { operationKey: 'x'.repeat(512) }, 'ok'],
    ['513 characters', { operationKey: 'x'.repeat(513) }, 'operationKey: must be at most 512 characters long'],
    ['NUL in the key', { operationKey: 'a\u0000' }, 'operationKey: must not hold U+0000 or lone surrogates'],
    ['another kind', { kind: 'fax' }, 'kind: must be email, http, steps'],
    ['nothing to say', { request: { ...mail, text: '' } }, 'request: must have html, text or template'],
    ['a template', { request: { to: 'a@example.org', subject: 'x', template: 't', data: { a: 1 } } }, 'ok'],
    ['one class twice', { class: 'marketing', request: { ...mail, class: 'marketing' } }, 'ok'],
    [
      'two classes',
      { class: 'marketing', request: { ...mail, class: 'transactional' } },
      'class: must not differ from request.class',
    ],
    [
      'a second recipient',
      { request: { ...mail, headers: { bCC: 'x@example.org' } } },
      'request.headers: must not set a header that the service sets',
    ],
    ['a header', { request: { ...mail, headers: { 'X-Order': '17' } } }, 'ok'],
    [
      'a header with a line break',
      { request: { ...mail, headers: { 'X-Order': '1\n2' } } },
      'request.headers.X-Order: must not hold control characters or lone surrogates',
    ],
    [
      'a header name with one',
      { request: { ...mail, headers: { 'X\r\nBcc': 'x' } } },
      'request.headers.*: has a member with a name that is not allowed',
    ],
    [
      'base64',
      { request: { ...mail, attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'eA==' }] } },
      'ok',
    ],
    [
      'no base64',
      { request: { ...mail, attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'e?' }] } },
      'request.attachments[0].content: must be base64 with padding',
    ],
    ['priority 10', { priority: 10 }, 'priority: must be at most 9'],
    ['an approval', { approval: { object: 'publish:brief-042', revision: 3 } }, 'ok'],
  ])('%s', (_what, changes, expected) => {
    expect(operation(changes)).toBe(expected);
  });

  it.each([
    ['/v1/tickets?x=1', 'ok'],
    ['/', 'ok'],
    ['v1', 'request.path: must begin with one slash'],
    ['//evil.example', 'request.path: must begin with one slash'],
    ['/a/../b', 'request.path: must not climb with . or ..'],
    [String.raw`/a\b`, 'request.path: must not climb with . or ..'],
  ])('an HTTP path %s', (path, expected) => {
    const request = { endpoint: 'tickets', method: 'POST', path, body: { title: 'x' } };
    expect(operation({ kind: 'http', request })).toBe(expected);
  });

  it('an HTTP header of the service', () => {
    const request = { endpoint: 'tickets', method: 'POST', path: '/', headers: { Host: 'x' } };
    expect(operation({ kind: 'http', request })).toBe('request.headers: must not set a header that the service sets');
  });
});

describe('rules of the others', () => {
  it.each([
    ['all', 'ok'],
    ['marketing', 'ok'],
    ['list:a b', 'ok'],
    ['list:', 'scope: must be all, marketing or list: and the id of a list'],
    ['list:a\n', 'scope: must be all, marketing or list: and the id of a list'],
    ['everything', 'scope: must be all, marketing or list: and the id of a list'],
  ])('scope %j', (scope, expected) => {
    expect(verdict('einmal.suppression.requested.v1', { scope })).toBe(expected);
  });

  it.each([
    [HASH, 'ok'],
    [HASH.toUpperCase(), 'hash: must be sha256: and 64 lower-case hex digits'],
    [HASH.slice(7), 'hash: must be sha256: and 64 lower-case hex digits'],
  ])('hash %s', (hash, expected) => {
    expect(verdict('einmal.approval.granted.v1', { hash })).toBe(expected);
  });

  it('reason of 1000 characters and one more', () => {
    expect(verdict('einmal.approval.withdrawn.v1', { reason: 'x'.repeat(1000) })).toBe('ok');
    expect(verdict('einmal.approval.withdrawn.v1', { reason: 'x'.repeat(1001) })).toBe(
      'reason: must be at most 1000 characters long',
    );
  });

  it('a receipt that is about nothing', () => {
    expect(verdict('einmal.receipt.reported.v1', { reference: undefined })).toBe(
      'must have reference, effectId or email',
    );
    expect(verdict('einmal.receipt.reported.v1', { reference: undefined, effectId: 'x' })).toBe('ok');
  });
});

describe('problems', () => {
  it('suggest the nearest right name for an unknown member', () => {
    expect(subscriber({ emial: 'x' })).toBe('unknown member emial; did you mean email?');
    expect(campaign({ audience: { list: ['a'], lists: ['a'] } })).toBe(
      'audience: unknown member list; did you mean lists?',
    );
    expect(operation({ colour: 1 })).toBe('unknown member colour');
  });

  it('repeat no value and no name that may be one', () => {
    const text = subscriber({ email: 'ada.lovelace', status: 'secret', 'ada@example.org': 1, lists: ['\n'] });
    expect(text).not.toMatch(/lovelace|secret|ada@/);
    expect(text).toContain('whose name is not repeated here');
  });

  it('are at most ten', () => {
    const result = validate(contractOf('einmal.subscriber.upserted.v1'), members(1000));
    expect(result.ok ? 0 : result.problems.length).toBe(10);
  });

  it('are found for anything that is not an object', () => {
    for (const data of [null, 1, 'text', [], undefined]) {
      expect(validate(contractOf('einmal.subscriber.deleted.v1'), data).ok).toBe(false);
    }
  });

  it('refuse __proto__ as a member', () => {
    const data: unknown = JSON.parse('{"subscriberId":"s","__proto__":{"erase":true}}');
    expect(validate(contractOf('einmal.subscriber.deleted.v1'), data).ok).toBe(false);
  });
});
