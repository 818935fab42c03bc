import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { maskText, redact } from './redact.ts';

export type LogFields = Record<string, unknown>;

/** Structured log: `event` is a constant name (`dispatch.claim-lost`), everything that varies goes into the fields. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A logger that adds these fields to each line. */
  child(fields: LogFields): Logger;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** One of LOG_LEVELS. */
  readonly level: string;
  readonly role?: string;
  /** Where the lines go; default stdout. */
  readonly destination?: DestinationStream;
}

/** JSON lines, one object each; JSON's own escapes keep CR, LF and NUL inside the line. Every field passes redact(). */
export function createLogger({ level, role, destination }: LoggerOptions): Logger {
  const options = {
    level,
    messageKey: 'event',
    base: { service: 'einmal', pid: process.pid, ...(role === undefined ? {} : { role }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return adapt(destination === undefined ? pino(options) : pino(options, destination));
}

export const silentLogger: Logger = Object.freeze({
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
});

function adapt(inner: PinoLogger): Logger {
  const write = (level: Exclude<LogLevel, 'silent'>) => (event: string, fields?: LogFields) => {
    // Redaction copies: not for a line that nobody will see.
    if (inner.isLevelEnabled(level)) inner[level](safeFields(fields), maskText(event));
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => adapt(inner.child(safeFields(fields))),
  };
}

/** pino writes a member twice when a field has the name of one of its own, and readers would believe the last. */
const OWN_MEMBERS = new Set(['level', 'time', 'pid', 'service', 'role', 'event']);

function safeFields(fields: LogFields | undefined): LogFields {
  if (fields === undefined) return {};
  const safe = redact(fields) as LogFields;
  for (const name of Object.keys(safe)) {
    if (!OWN_MEMBERS.has(name)) continue;
    safe[`${name}_`] = safe[name];
    delete safe[name];
  }
  return safe;
}
