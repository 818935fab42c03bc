export interface ServiceErrorOptions {
  /** true when the same call may succeed later without a change of its input. */
  readonly retryable: boolean;
  readonly cause?: unknown;
}

/**
 * An unexpected failure with a stable `code` (lower-case words joined by dashes). Decisions look at `code` and `retryable`,
 * never at the text. The message holds no address and no secret.
 */
export class ServiceError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: ServiceErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.retryable = options.retryable;
  }
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof ServiceError;
}

/**
 * The shortest stable name of any thrown thing: its string `code` (ServiceError, Node's ECONNREFUSED, PostgreSQL's SQLSTATE),
 * else its class name, else `unknown`.
 */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
