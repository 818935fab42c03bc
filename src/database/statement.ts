import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import {
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  type DataSource,
  type EntityManager,
  type QueryRunner,
} from 'typeorm';
import { ServiceError } from '../runtime/service-error.ts';
import { connectOrAway } from './postgres-errors.ts';
import type { Transaction } from './in-transaction.ts';

/** One row of a result: column name to value as the driver gives it (`bigint` columns are strings). */
export type Executor = DataSource | Transaction;

/**
 * One operation on the database: the text of a `.sql` file with named parameters (`:name`).
 * The values are given by name; a missing or an unknown name is refused before anything is sent.
 */
export interface Statement<P extends object, R> {
  readonly name: string;
  run(executor: Executor, parameters: P): Promise<R[]>;
}

/** For statements without parameters: they are run with `{}`. */
export type NoParameters = Readonly<Record<string, never>>;

const NAMED_PARAMETER = /(?<![:\w]):([a-z_][a-z0-9_]*)/g;

/**
 * Reads the `.sql` file beside the calling module, once, when the module loads.
 *
 * @param moduleUrl `import.meta.url` of the module that owns the statement
 * @param fileName the file's name, in the same folder
 */
export function loadStatement<P extends object, R>(moduleUrl: string, fileName: string): Statement<P, R> {
  return defineStatement<P, R>(fileName, readFileSync(new URL(fileName, moduleUrl), 'utf8'));
}

/** The same for a text that is already at hand; `loadStatement` is the usual way. */
export function defineStatement<P extends object, R>(name: string, text: string): Statement<P, R> {
  const order: string[] = [];
  const positional = withoutComments(text).replace(NAMED_PARAMETER, (_match, parameter: string) => {
    const known = order.indexOf(parameter);
    return `$${known >= 0 ? known + 1 : order.push(parameter)}`;
  });
  const prepared = { name: preparedName(name, positional), text: positional };

  return {
    name,
    run: async (executor, parameters) => {
      const values = inOrder(name, order, parameters);
      return (await query(executor, prepared, values)) as R[];
    },
  };
}

function withoutComments(text: string): string {
  return text.replaceAll(/--[^\n]*/g, '');
}

function inOrder(name: string, order: readonly string[], parameters: object): unknown[] {
  const given = new Map(Object.entries(parameters));
  const missing = order.filter((parameter) => given.get(parameter) === undefined);
  const unknown = [...given.keys()].filter((parameter) => !order.includes(parameter));
  if (missing.length > 0 || unknown.length > 0) {
    throw new ServiceError(
      'statement-parameters',
      `${name}: missing [${missing.join(', ')}], unknown [${unknown.join(', ')}]`,
      { retryable: false },
    );
  }
  return order.map((parameter) => given.get(parameter));
}

interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** PostgreSQL cuts names at 63 bytes; two files may have one name, so the text has a part in it. */
function preparedName(name: string, text: string): string {
  return `${name.slice(0, 40)} ${hash('sha256', text, 'hex').slice(0, 16)}`;
}

async function query(executor: Executor, prepared: Prepared, values: unknown[]): Promise<unknown[]> {
  const open = openRunner(executor);
  if (open) return await queryBy(open, prepared, values);
  const runner = (executor as DataSource).createQueryRunner();
  try {
    await connectOrAway(runner);
    return await queryBy(runner, prepared, values);
  } finally {
    await runner.release();
  }
}

/**
 * By the driver's own client, since TypeORM cannot name a statement: a named one is parsed and planned once per connection,
 * which for most of ours takes longer than to run them.
 */
async function queryBy(runner: QueryRunner, prepared: Prepared, values: unknown[]): Promise<unknown[]> {
  // Else a late statement of a transaction that is over would run alone, on another connection.
  if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
  const client = (await runner.connect()) as ClientBase;
  try {
    return (await client.query({ ...prepared, values })).rows;
  } catch (error) {
    throw new QueryFailedError(prepared.text, values, error as Error);
  }
}

function openRunner(executor: Executor) {
  return 'queryRunner' in executor ? (executor as EntityManager).queryRunner : undefined;
}
