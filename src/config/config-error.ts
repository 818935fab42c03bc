/** What was broken: stable for tests and tools; the message says it in words. */
export type ConfigRule =
  | 'required'
  | 'unknown-key'
  | 'wrong-type'
  | 'out-of-range'
  | 'wrong-form'
  | 'missing-variable'
  | 'contradiction'
  | 'not-yaml'
  | 'unreadable'
  | 'too-large';

export type ConfigPath = readonly (string | number)[];

export interface ConfigError {
  readonly source: 'environment' | 'file';
  /** Where: the name of a variable, or `tenants.acme.tokens[0].sha256`; empty for the file as a whole. */
  readonly path: string;
  readonly rule: ConfigRule;
  /** In words, without any value: a value may be a secret. */
  readonly message: string;
  /** The known name that was probably meant. */
  readonly nearest: string | null;
  /** Line of the file, from 1. */
  readonly line: number | null;
}

export interface FoundError {
  readonly path: ConfigPath;
  readonly rule: ConfigRule;
  readonly message: string;
  readonly nearest?: string | null;
}

export function contradiction(path: ConfigPath, message: string, nearest: string | null = null): FoundError {
  return { path, rule: 'contradiction', message, nearest };
}

const PLAIN_KEY = /^[\p{L}\p{N}_-]+$/u;

export function formatPath(path: ConfigPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      // JSON's escapes keep a hostile key on one line of the terminal.
      if (!PLAIN_KEY.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

/** One line per error, for the terminal and the log of a start that failed. */
export function formatConfigErrors(errors: readonly ConfigError[], fileName: string): string {
  const head = errors.length === 1 ? '1 thing is wrong:' : `${errors.length} things are wrong:`;
  return [head, ...errors.map((error) => `  ${formatOne(error, fileName)}`)].join('\n');
}

function formatOne({ source, path, message, nearest, line }: ConfigError, fileName: string): string {
  const place = source === 'environment' ? 'environment' : `${fileName}${line === null ? '' : `:${line}`}`;
  const subject = path === '' ? '' : `${path} `;
  return `${place}: ${subject}${message}${nearest === null ? '' : ` (did you mean ${nearest}?)`}`;
}
