import { describe, expect, it } from 'vitest';
import { ServiceError } from '../runtime/service-error.ts';
import { createLogger, silentLogger } from './logger.ts';

function capture(level = 'debug') {
  const text: string[] = [];
  const logger = createLogger({ level, role: 'dispatcher', destination: { write: (line) => void text.push(line) } });
  const lines = () => text.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, text, lines };
}

describe('createLogger', () => {
  it('writes one JSON line with level, time, role and event', () => {
    const { logger, lines } = capture();
    logger.info('dispatch.claimed', { count: 20, claimNumber: 7n, at: new Date(0) });
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        service: 'einmal',
        pid: process.pid,
        role: 'dispatcher',
        event: 'dispatch.claimed',
        count: 20,
        claimNumber: '7',
        at: '1970-01-01T00:00:00.000Z',
      },
    ]);
  });

  it('leaves out what is below its level', () => {
    const { logger, lines } = capture('warn');
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(lines().map(({ level }) => level)).toEqual(['warn', 'error']);
  });

  it('adds the fields of a child, redacted too', () => {
    const { logger, lines } = capture();
    logger.child({ loop: 'relay', token: 'abc' }).child({ bucket: 3 }).info('x');
    expect(lines()[0]).toMatchObject({ loop: 'relay', token: '[redacted]', bucket: 3, event: 'x' });
  });

  it('keeps CR, LF and NUL inside the line', () => {
    const { logger, text } = capture();
    logger.info('x', { reason: 'a\r\nb\u0000c\u2028' });
    logger.info('y\n{"level":"error"}');
    expect(text).toHaveLength(2);
    for (const line of text) expect(line.trimEnd()).not.toMatch(/[\r\n\0]/);
  });

  it('does not let a field pose as one of its own members', () => {
    const { logger, text, lines } = capture();
    logger.info('real', { event: 'false', level: 'error', time: 'never' });
    expect(lines()[0]).toMatchObject({
      event: 'real',
      level: 'info',
      event_: 'false',
      level_: 'error',
      time_: 'never',
    });
    expect(text[0]?.match(/"event":/g)).toHaveLength(1);
  });

  it('masks addresses wherever they are: event, nested fields, errors and their causes', () => {
    const { logger, text, lines } = capture();
    const cause = Object.assign(new Error('Key (email)=(ann@example.org) exists'), {
      code: '23505',
      detail: 'ann@example.org',
      parameters: ['ann@example.org'],
    });
    const error = new ServiceError('write-failed', 'for ann@example.org', { retryable: false, cause });
    logger.error('failed for ann@example.org', { error, list: [{ note: 'ann@example.org' }], 'ann@example.org': 1 });
    expect(text.join('')).not.toContain('ann@');
    expect(lines()[0]).toMatchObject({ error: { code: 'write-failed', retryable: false, cause: { code: '23505' } } });
  });
});

describe('silentLogger', () => {
  it('takes everything and is its own child', () => {
    expect(silentLogger.child({ a: 1 })).toBe(silentLogger);
    expect(silentLogger.error('x')).toBeUndefined();
  });
});
