import { describe, expect, it } from 'vitest';
import { type ConfigError, formatConfigErrors, formatPath } from './config-error.ts';
import { nearestName } from './nearest-name.ts';

const error: ConfigError = {
  source: 'file',
  path: 'tenants.acme.provder',
  rule: 'unknown-key',
  message: 'is not known',
  nearest: 'provider',
  line: 9,
};

describe('formatConfigErrors', () => {
  it('gives each error its place, path, sentence and nearest name', () => {
    const port: ConfigError = {
      ...error,
      source: 'environment',
      path: 'PORT',
      message: 'must be …',
      nearest: null,
      line: null,
    };
    const whole: ConfigError = { ...error, path: '', message: 'cannot be read', nearest: null, line: null };
    expect(formatConfigErrors([error, port, whole], 'einmal.yaml')).toBe(
      [
        '3 things are wrong:',
        '  einmal.yaml:9: tenants.acme.provder is not known (did you mean provider?)',
        '  environment: PORT must be …',
        '  einmal.yaml: cannot be read',
      ].join('\n'),
    );
    expect(formatConfigErrors([error], 'x')).toMatch(/^1 thing is wrong:/);
  });
});

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['a', 'b', 0, 'c'], 'a.b[0].c'],
    [['a', 'x.y\n\u001b[2J'], 'a["x.y\\n\\u001b[2J"]'],
    [['über'], 'über'],
  ])('%j', (path, text) => expect(formatPath(path)).toBe(text));
});

describe('nearestName', () => {
  const known = ['leaseSeconds', 'claimBatch', 'claimBatchMax', 'onUnknown'];
  it.each([
    ['leaseSecond', 'leaseSeconds'],
    ['lease_seconds', 'leaseSeconds'],
    ['LEASE-SECONDS', 'leaseSeconds'],
    ['claimbatchmaxx', 'claimBatchMax'],
    ['on-unknown', 'onUnknown'],
    ['tenants', null],
    ['x', null],
    ['', null],
    ['leaseSeconds'.repeat(10_000), null],
  ])('of %s', (name, nearest) => expect(nearestName(name, known)).toBe(nearest));
});
