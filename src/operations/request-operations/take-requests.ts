import type { ApprovedObject } from '../../approvals/lock-objects.ts';
import type { Transaction } from '../../database/in-transaction.ts';
import type { OutboxEntry } from '../../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../../messaging/outbox/produced-event.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import type { TenantDirectory } from '../../tenants/tenant-directory.ts';
import { queueApproved } from '../queue-approved/queue-approved.ts';
import { findTooOld } from './find-too-old.ts';
import type { NewOperation } from './insert-operations.ts';
import { planOperation, type OperationDefaults, type ReceivedRequest } from './plan-operation.ts';
import type { RequestAnswer } from './request-answer.ts';
import { requestOperations } from './request-operations.ts';

/** Who asks, and how it is answered: both entrances give the same. */
export interface RequestDesk {
  readonly events: EventWriter;
  readonly tenants: TenantDirectory;
  readonly settings: OperationDefaults;
}

/**
 * The whole road of a request, by Kafka or by HTTP: planned, entered into the ledger, answered, and queued at once when its
 * approval came first. One answer for each, by index.
 */
export async function takeRequests(
  tx: Transaction,
  outbox: OutboxEntry[],
  { events, tenants, settings }: RequestDesk,
  requests: readonly ReceivedRequest[],
): Promise<RequestAnswer[]> {
  const planned = requests.map((request) => {
    const tenant = tenants.get(request.tenantId);
    if (!tenant) throw new ServiceError('unknown-tenant', 'the tenant is not configured', { retryable: false });
    const operation = planOperation(request, tenant, settings);
    return { operation, askedAt: request.time, keyRetentionDays: tenant.keyRetentionDays };
  });
  const operations = planned.map(({ operation }) => operation);
  const answers = await requestOperations(tx, outbox, events, operations, await findTooOld(tx, planned));
  const queued = await queueApproved(tx, approvedObjects(operations));
  return answers.map((answer) => asQueued(answer, queued));
}

function approvedObjects(planned: readonly NewOperation[]): ApprovedObject[] {
  return planned.flatMap(({ tenantId, approval }) => (approval ? [{ tenantId, object: approval.object }] : []));
}

function asQueued(answer: RequestAnswer, queued: ReadonlySet<string>): RequestAnswer {
  const { operation } = answer;
  return queued.has(`${operation.tenantId}/${operation.operationId}`)
    ? { ...answer, operation: { ...operation, state: 'queued' } }
    : answer;
}
