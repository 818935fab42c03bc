import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
  type QueryRunner,
} from 'typeorm';
import { ServiceError } from '../runtime/service-error.ts';

export const DATABASE_AWAY = 'database-away';

/** What a failed statement means for the caller. Decided by SQLSTATE and by the driver's error codes, never by text. */
export type DatabaseFailure =
  /** The database is not there, or is starting, stopping or full of connections: wait, however long. */
  | 'away'
  /** Another transaction was in the way: the same work succeeds when repeated. */
  | 'contention'
  /** The statement or its data is wrong: repeating it changes nothing. */
  | 'refused'
  /** Not an error of the database. */
  | 'foreign';

/** SQLSTATE classes and codes: PostgreSQL documentation, appendix A. */
const AWAY_CLASSES = new Set(['08', '53', '57', '58']);
const AWAY_CODES = new Set(['25006', '28000', '28P01', '3D000', '55000', '55006']);
const CONTENTION_CODES = new Set(['40001', '40P01', '55P03']);

export function classifyDatabaseError(error: unknown): DatabaseFailure {
  const code = sqlState(error);
  if (code !== undefined) {
    if (CONTENTION_CODES.has(code)) return 'contention';
    // 57014 is a cancelled statement (statement_timeout): the server is there, but did not get through in time.
    if (AWAY_CODES.has(code) || AWAY_CLASSES.has(code.slice(0, 2))) return 'away';
    return 'refused';
  }
  if (error instanceof ServiceError) return error.code === DATABASE_AWAY ? 'away' : 'foreign';
  // A connection that ends between two statements of a transaction is taken from its runner, which then says only this.
  if (error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError)
    return 'away';
  if (!(error instanceof QueryFailedError)) return 'foreign';
  // Without a SQLSTATE the server never answered: the socket ended or one of the driver's own timers fired.
  const driverError: unknown = error.driverError;
  return driverError instanceof TypeError || driverError instanceof RangeError ? 'refused' : 'away';
}

/** Opens the runner's connection; that none is to be had is an error with a code of its own. */
export async function connectOrAway(runner: QueryRunner): Promise<void> {
  try {
    await runner.connect();
  } catch (cause) {
    throw new ServiceError(DATABASE_AWAY, 'no connection to the database', { retryable: true, cause });
  }
}

/** The five characters that PostgreSQL gave, if this error or one of its causes came from there. */
export function sqlState(error: unknown): string | undefined {
  for (const cause of causes(error)) {
    const code = codeOf(cause);
    if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && hasSeverity(cause)) return code;
  }
  return undefined;
}

function* causes(error: unknown): Generator {
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth++) {
    yield current;
    const next = current as { driverError?: unknown; cause?: unknown; errors?: unknown };
    current = next.driverError ?? next.cause ?? (Array.isArray(next.errors) ? next.errors[0] : undefined);
  }
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : undefined;
}

function hasSeverity(error: unknown): boolean {
  return typeof (error as { severity?: unknown }).severity === 'string';
}
