import { loadStatement, type Executor } from '../database/statement.ts';
import { ServiceError } from '../runtime/service-error.ts';

const suppress = loadStatement<{ tenants: string[]; operation_ids: string[] }, { operation_id: string }>(
  import.meta.url,
  'suppress-undelivered.sql',
);

const DELIVERY_KEY = /^([^/]+)\/([0-9a-f-]{36})$/;

/**
 * Operations whose delivery was replaced in the outbox, since the recipient is suppressed by now.
 *
 * @param messageKeys `tenant/operationId`
 * @throws ServiceError `still-calling` (retryable): one of them is not recorded yet
 */
export async function suppressUndelivered(executor: Executor, messageKeys: readonly string[]): Promise<void> {
  const found = messageKeys.flatMap((key) => {
    const [, tenant, operationId] = DELIVERY_KEY.exec(key) ?? [];
    return tenant && operationId ? [{ tenant, operationId }] : [];
  });
  const calling = await suppress.run(executor, {
    tenants: found.map((each) => each.tenant),
    operation_ids: found.map((each) => each.operationId),
  });
  if (calling.length > 0)
    throw new ServiceError('still-calling', 'a replaced delivery is not recorded yet', { retryable: true });
}
