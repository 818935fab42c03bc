import { loadStatement, type Executor } from '../database/statement.ts';

/** A provider that refuses the account. After `until` one operation at a time tries whether it works again. */
export interface ProviderStop {
  readonly provider: string;
  readonly since: Date;
  readonly until: Date;
  readonly code: string;
  readonly diagnostic: string;
}

const read = loadStatement<{ providers: string[] }, ProviderStop>(import.meta.url, 'read-provider-stops.sql');

/** Those of these providers that have stopped. */
export async function readProviderStops(executor: Executor, providers: readonly string[]): Promise<ProviderStop[]> {
  return await read.run(executor, { providers: [...providers] });
}
