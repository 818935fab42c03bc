import { loadStatement } from '../database/statement.ts';

export interface OperationId {
  readonly tenant_id: string;
  readonly operation_id: string;
}

export const findCampaignOperations = loadStatement<
  { tenant: string; campaign: string; days: number; after: string; before: string; page_size: number },
  OperationId & { readonly address_key: string }
>(import.meta.url, 'find-campaign-operations.sql');

/**
 * Where keys lie in the order of the index, both ends left out. No address begins as a scrubbed key does: a colon stands in
 * quotes there.
 */
export const SCRUBBED_KEYS = { after: 'scrubbed:', before: 'scrubbed;' };
export const ADDRESS_KEYS = [
  { after: '', before: 'scrubbed:' },
  { after: 'scrubbed;', before: '\u{10ffff}' },
];

export function idsOf(operations: readonly OperationId[]): { tenants: string[]; operation_ids: string[] } {
  return {
    tenants: operations.map((each) => each.tenant_id),
    operation_ids: operations.map((each) => each.operation_id),
  };
}
