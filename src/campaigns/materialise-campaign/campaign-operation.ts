import { operationId } from '../../operations/operation-id.ts';
import { HASH_VERSION, payloadHash } from '../../operations/payload-hash.ts';
import type { NewOperation } from '../../operations/request-operations/insert-operations.ts';
import { approvalObject } from '../lock-campaign.ts';
import type { PageRow } from './audience.ts';
import type { MaterialisingCampaign } from './materialising-campaign.ts';

/** What a campaign's operation keeps of its subscriber: every attempt is rendered from this and the revision, nothing else. */
export interface FrozenRecipient {
  readonly to: string;
  readonly contentHash: string;
  readonly subscriber: {
    readonly id: string;
    readonly email: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly locale: string | null;
    readonly timeZone: string | null;
  };
}

/** One operation of a campaign, with the key `campaign:ID:SUBSCRIBER`. */
export function campaignOperation(
  campaign: MaterialisingCampaign,
  row: PageRow,
  recipient: { readonly email: string; readonly addressKey: string },
  maxAttempts: number,
): NewOperation {
  const revision = Number(campaign.revision);
  const operationKey = `${approvalObject(campaign.campaign_id)}:${row.subscriber_id}`;
  const request: FrozenRecipient = {
    to: recipient.email,
    contentHash: campaign.content_hash,
    subscriber: {
      id: row.subscriber_id,
      email: recipient.email,
      attributes: row.attributes,
      locale: row.locale,
      timeZone: row.time_zone,
    },
  };
  return {
    tenantId: campaign.tenant_id,
    operationId: operationId(campaign.tenant_id, operationKey),
    operationKey,
    kind: 'email',
    class: campaign.class,
    payloadHash: Buffer.from(
      payloadHash({ kind: 'email', request, class: campaign.class }).slice('sha256:'.length),
      'hex',
    ),
    hashVersion: HASH_VERSION,
    state: 'queued',
    stateReason: null,
    provider: campaign.provider,
    priority: 5,
    campaign: { campaignId: campaign.campaign_id, revision, subscriberId: row.subscriber_id },
    addressKey: recipient.addressKey,
    lists: row.lists.filter((list) => campaign.content.audience.lists.includes(list)),
    approval: null,
    approvalHash: null,
    stepReferences: [],
    notBefore: null,
    deadline: null,
    maxAttempts,
    onUnknown: campaign.on_unknown,
    causationId: campaign.causation_id,
    traceparent: campaign.traceparent,
    request,
  };
}
