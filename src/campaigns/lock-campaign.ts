import { lockObjects } from '../approvals/lock-objects.ts';
import type { Transaction } from '../database/in-transaction.ts';

/** How an approval names a campaign. */
export function approvalObject(campaignId: string): string {
  return `campaign:${campaignId}`;
}

/** The campaign that an approval names, if it names one. */
export function campaignOfObject(object: string): string | undefined {
  return object.startsWith('campaign:') ? object.slice('campaign:'.length) : undefined;
}

/** Makes a submission and an approval of the same campaign wait for each other. */
export async function lockCampaign(tx: Transaction, tenantId: string, campaignId: string): Promise<void> {
  await lockObjects(tx, [{ tenantId, object: approvalObject(campaignId) }]);
}
