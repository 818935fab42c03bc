import { loadStatement, type Executor, type NoParameters } from './statement.ts';
import { ServiceError } from '../runtime/service-error.ts';

const read = loadStatement<NoParameters, { now: Date }>(import.meta.url, 'database-time.sql');

/** The one clock that decides leases, deadlines and which fact is the newest. */
export async function databaseTime(executor: Executor): Promise<Date> {
  const [row] = await read.run(executor, {});
  if (!row) throw new ServiceError('no-time', 'the database told no time', { retryable: true });
  return row.now;
}
