import type { LoggerService } from '@nestjs/common';
import type { LogFields, Logger } from './logger.ts';

/** Nest's own log lines as events `nest.log`, with Nest's text as the field `message`; its chatter at start is for debugging. */
export class NestLogger implements LoggerService {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.#logger.debug('nest.log', fieldsOf(message, rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.#logger.error('nest.log', fieldsOf(message, rest));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.#logger.error('nest.log', { ...fieldsOf(message, rest), fatal: true });
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.#logger.warn('nest.log', fieldsOf(message, rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.#logger.debug('nest.log', fieldsOf(message, rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.#logger.debug('nest.log', fieldsOf(message, rest));
  }
}

/** Nest passes the context (the name of a class) as the last argument, and sometimes a stack or more messages before it. */
function fieldsOf(message: unknown, rest: readonly unknown[]): LogFields {
  const given = rest.filter((value) => value !== undefined);
  const last = given.at(-1);
  const context = typeof last === 'string' && !last.includes('\n') ? last : undefined;
  const details = context === undefined ? given : given.slice(0, -1);
  return {
    ...(message instanceof Error ? { error: message } : { message }),
    ...(context === undefined ? {} : { context }),
    ...(details.length === 0 ? {} : { details }),
  };
}
