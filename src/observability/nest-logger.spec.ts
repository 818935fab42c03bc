import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';
import { NestLogger } from './nest-logger.ts';

function capture() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { nest: new NestLogger(createLogger({ level: 'debug', destination })), lines };
}

describe('NestLogger', () => {
  it('maps levels and takes the context', () => {
    const { nest, lines } = capture();
    nest.log('started', 'NestFactory');
    nest.warn('odd', 'Router');
    nest.debug('fine', 'Router');
    nest.verbose('finer', 'Router');
    nest.fatal('over', 'Router');
    expect(lines.map(({ level, message, context }) => [level, message, context])).toEqual([
      ['debug', 'started', 'NestFactory'],
      ['warn', 'odd', 'Router'],
      ['debug', 'fine', 'Router'],
      ['debug', 'finer', 'Router'],
      ['error', 'over', 'Router'],
    ]);
  });

  it('keeps the stack of an error apart from the context and masks what it holds', () => {
    const { nest, lines } = capture();
    nest.error('no ann@example.org', 'Error: x\n    at y', 'Exceptions');
    nest.error(new TypeError('boom'), undefined, 'Exceptions');
    nest.error('only a stack', 'Error: x\n    at y');
    expect(lines).toMatchObject([
      { message: 'no [redacted]', details: ['Error: x\n    at y'], context: 'Exceptions' },
      { error: { name: 'TypeError', message: 'boom' }, context: 'Exceptions' },
      { message: 'only a stack', details: ['Error: x\n    at y'] },
    ]);
    expect(lines[2]).not.toHaveProperty('context');
  });
});
