import { describe, expect, it } from 'vitest';
import { parseJsonPath, readJsonPath } from './json-path.ts';
import { fillTemplate, parseTemplate } from './reference-template.ts';

describe('a JSON path', () => {
  it.each([
    ['$.id', ['id']],
    ['$.data.id', ['data', 'id']],
    ['$.items[0].id', ['items', 0, 'id']],
    ['$[12][3]', [12, 3]],
    ['$.a-b._c9', ['a-b', '_c9']],
  ])('%s', (text, steps) => expect(parseJsonPath(text)).toEqual(steps));

  it.each([
    '',
    '$',
    'id',
    '.id',
    '$id',
    '$..id',
    '$.',
    '$.*',
    '$[*]',
    '$[-1]',
    '$[0',
    '$["a"]',
    '$.a b',
    '$.a[?(@.x)]',
    '$.1a',
    '$.a.',
  ])('refuses %j', (text) => expect(parseJsonPath(text)).toBeNull());

  it('reads what stands there', () => {
    expect(readJsonPath({ items: [{ id: 'x' }] }, ['items', 0, 'id'])).toBe('x');
    expect(readJsonPath({ items: [] }, ['items', 0, 'id'])).toBeUndefined();
    expect(readJsonPath({}, ['__proto__'])).toBeUndefined();
  });
});

describe('a template of the reference', () => {
  it.each([
    ['/things', '/things'],
    ['/things/{{ reference }}', '/things/a%2Fb'],
    ['/t?ref={{reference}}&again={{  reference  }}', '/t?ref=a%2Fb&again=a%2Fb'],
  ])('%s', (text, filled) => expect(fillTemplate(parseTemplate(text) ?? [], 'a/b')).toBe(filled));

  it.each([
    '{{ recipient }}',
    '{{ reference',
    'reference }}',
    '{{{ reference }}}',
    '{reference}',
    '{{}}',
    '{{ reference.x }}',
  ])('refuses %j', (text) => expect(parseTemplate(text)).toBeNull());
});
