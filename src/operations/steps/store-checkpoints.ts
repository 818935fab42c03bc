import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';

/** What one call has answered: of a step, or of a single effect (without name and version). */
export interface Checkpoint {
  readonly tenantId: string;
  readonly operationId: string;
  readonly step: number;
  readonly name: string | null;
  readonly version: number | null;
  readonly inputHash: Buffer | null;
  /** JSON text; null: it is known that it was done, and not what it answered. */
  readonly result: string | null;
  readonly effectId: string | null;
  readonly claimNumber: string;
}

const store = loadStatement<
  Record<
    | 'tenants'
    | 'operation_ids'
    | 'steps'
    | 'names'
    | 'versions'
    | 'input_hashes'
    | 'results'
    | 'effect_ids'
    | 'claim_seqs',
    unknown[]
  >,
  never
>(import.meta.url, 'store-checkpoints.sql');

export async function storeCheckpoints(tx: Transaction, checkpoints: readonly Checkpoint[]): Promise<void> {
  if (checkpoints.length === 0) return;
  await store.run(tx, {
    tenants: checkpoints.map((each) => each.tenantId),
    operation_ids: checkpoints.map((each) => each.operationId),
    steps: checkpoints.map((each) => each.step),
    names: checkpoints.map((each) => each.name),
    versions: checkpoints.map((each) => each.version),
    input_hashes: checkpoints.map((each) => each.inputHash),
    results: checkpoints.map((each) => each.result),
    effect_ids: checkpoints.map((each) => each.effectId),
    claim_seqs: checkpoints.map((each) => each.claimNumber),
  });
}
