import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';

export interface ApprovedObject {
  readonly tenantId: string;
  /** `campaign:ID` or any name of the peer's. */
  readonly object: string;
}

const lock = loadStatement<Record<'tenants' | 'objects', unknown[]>, unknown>(import.meta.url, 'lock-objects.sql');

/**
 * Held until the transaction ends. An approval and what it approves come through different consumers and may be written at
 * the same moment; without this each would look before the other is visible, and neither would act.
 */
export async function lockObjects(tx: Transaction, objects: readonly ApprovedObject[]): Promise<void> {
  await lock.run(tx, { tenants: objects.map((each) => each.tenantId), objects: objects.map((each) => each.object) });
}
