import { describe, expect, it } from 'vitest';
import { readConfigFile } from './read-config-file.ts';
import { MAX_FILE_BYTES, readYaml } from './read-yaml.ts';

const list = (item: string) => `[${Array.from({ length: 9 }, () => item).join(',')}]`;

describe('readYaml', () => {
  it.each<[string, string, string, number | null]>([
    ['a key that comes twice', 'a: 1\nb: 2\na: hunter2\n', 'not-yaml', 3],
    ['broken brackets', 'a: 1\nb: [hunter2\n', 'not-yaml', 3],
    ['a tab as indent', 'a:\n\tb: hunter2', 'not-yaml', 2],
    ['two documents', 'a: 1\n---\nb: hunter2', 'not-yaml', 2],
    ['a tag', 'a: !hunter2 x', 'not-yaml', 1],
    ['an alias without anchor, as an unquoted password may be', 'a: *hunter2', 'not-yaml', null],
    ['too many bytes', `a: ${'x'.repeat(MAX_FILE_BYTES)}`, 'too-large', null],
    ['brackets nested 20,000 deep', '['.repeat(20_000), 'too-large', 1],
  ])('refuses %s without quoting it', (_, text, rule, line) => {
    const { errors } = readYaml(text);
    expect(errors[0]).toMatchObject({ rule, line });
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });

  it('refuses a bomb of aliases and a circle of them', () => {
    const bomb = `a: &a ${list('x')}\nb: &b ${list('*a')}\nc: &c ${list('*b')}\nd: ${list('*c')}\n`;
    expect(readYaml(bomb).errors).toMatchObject([{ rule: 'not-yaml' }]);
    const { errors } = readConfigFile('tenants: &t\n  a: *t\nproviders: {}\n', {});
    expect(errors.map(({ rule }) => rule)).toContain('too-large');
  });

  it('reads on after a repeated key, so that all else is told too', () => {
    const { errors } = readConfigFile('tenants: 1\ntenants: 2\nproviders: 3\n', {});
    expect(errors.map(({ path, rule, line }) => [path, rule, line])).toEqual([
      ['', 'not-yaml', 2],
      ['providers', 'wrong-type', 3],
      ['tenants', 'wrong-type', 1],
    ]);
  });

  it('tells the YAML errors alone when nothing can be read', () => {
    const { errors } = readConfigFile('tenants: [', {});
    expect(errors.every(({ rule }) => rule === 'not-yaml')).toBe(true);
  });

  it('knows the line of keys, entries, and of the nearest parent of what is not there', () => {
    const yaml = readYaml('# x\na:\n  b:\n    - 1\n    - c: 2\n');
    expect([
      yaml.lineOf(['a']),
      yaml.lineOf(['a', 'b']),
      yaml.lineOf(['a', 'b', 1]),
      yaml.lineOf(['a', 'b', 1, 'c']),
    ]).toEqual([2, 3, 5, 5]);
    expect([yaml.lineOf(['a', 'zz', 'y']), yaml.lineOf(['zz']), yaml.lineOf([])]).toEqual([2, null, null]);
  });
});
