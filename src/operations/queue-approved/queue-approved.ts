import { lockObjects, type ApprovedObject } from '../../approvals/lock-objects.ts';
import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';

const queue = loadStatement<Record<'tenants' | 'objects', unknown[]>, { tenant_id: string; operation_id: string }>(
  import.meta.url,
  'queue-approved.sql',
);

/**
 * Queues the operations that wait for an approval which is there. Called when either of the two arrives; the lock makes
 * the later one see the earlier.
 *
 * @returns `tenant/operationId` of those that were queued
 */
export async function queueApproved(tx: Transaction, objects: readonly ApprovedObject[]): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  await lockObjects(tx, objects);
  const rows = await queue.run(tx, {
    tenants: objects.map((each) => each.tenantId),
    objects: objects.map((each) => each.object),
  });
  return new Set(rows.map(({ tenant_id: tenant, operation_id: id }) => `${tenant}/${id}`));
}
