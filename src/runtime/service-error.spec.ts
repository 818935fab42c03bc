import { describe, expect, it } from 'vitest';
import { errorCode, isServiceError, ServiceError } from './service-error.ts';

describe('ServiceError', () => {
  it('carries code, retryable and cause', () => {
    const cause = new Error('below');
    const error = new ServiceError('outbox-row-too-large', 'the row is too large', { retryable: false, cause });
    expect(error).toMatchObject({ name: 'ServiceError', code: 'outbox-row-too-large', retryable: false, cause });
    expect(isServiceError(error)).toBe(true);
    expect(isServiceError(cause)).toBe(false);
  });

  it.each([
    [new ServiceError('a-b', 'x', { retryable: true }), 'a-b'],
    [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [Object.assign(new Error('x'), { code: 42 }), 'Error'],
    [new TypeError('x'), 'TypeError'],
    ['a string', 'unknown'],
    [null, 'unknown'],
    [{}, 'unknown'],
  ])('names %s as %s', (thrown, code) => {
    expect(errorCode(thrown)).toBe(code);
  });
});
