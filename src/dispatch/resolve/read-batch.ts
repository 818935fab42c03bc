import type { DataSource } from 'typeorm';
import { loadStatement } from '../../database/statement.ts';
import type { Shape } from '../../providers/provider.port.ts';
import { inBatchOrder } from '../batch-order.ts';
import type { Composable } from '../compose.ts';

/** An operation that was in a batch, with what its part of the call was made of. */
export interface BatchMember extends Composable {
  readonly request_shape: Shape;
  /** What its part must come to again. */
  readonly request_hash: Buffer | null;
}

const read = loadStatement<{ batch: string }, BatchMember>(import.meta.url, 'read-batch.sql');

/** All members, in the order of the call. */
export async function readBatch(dataSource: DataSource, batch: string): Promise<BatchMember[]> {
  return inBatchOrder(await read.run(dataSource, { batch }), ({ operation_id }) => operation_id);
}
