import { campaignContentHash } from '../../src/operations/payload-hash.ts';
import type { DataOf } from '../../src/messaging/contracts/registry.ts';
import { eventually } from './eventually.ts';
import type { World } from './world.ts';
import type { ServiceProcess } from './service.ts';

export type Revision = DataOf<'einmal.campaign.revision-submitted.v1'>;
export type Subscriber = DataOf<'einmal.subscriber.upserted.v1'>;

export function revisionOf(campaignId: string, parts: Partial<Revision> = {}): Revision {
  return {
    campaignId,
    revision: 1,
    class: 'marketing',
    from: 'Einmal News <news@einmal.example>',
    subject: 'News for {{ subscriber.attributes.name }}',
    html: '<html><body><h1>Hello {{ subscriber.attributes.name }}</h1><p>You are {{ subscriber.email }}, this is {{ campaign.id }}.</p></body></html>',
    audience: { lists: ['news'] },
    ...parts,
  };
}

export function subscriberOf(index: number, parts: Partial<Subscriber> = {}): Subscriber {
  return {
    subscriberId: `sub_${index}`,
    email: `person${index}@example.com`,
    status: 'confirmed',
    lists: ['news'],
    attributes: { name: `Person ${index}` },
    ...parts,
  };
}

/** Publishes the revision and the approval of exactly its content. */
export async function submitAndApprove(world: World, revision: Revision): Promise<void> {
  await world.peer.publish('einmal.campaign.revision-submitted.v1', [revision]);
  await world.peer.publish('einmal.approval.granted.v1', [
    {
      object: `campaign:${revision.campaignId}`,
      revision: revision.revision,
      hash: campaignContentHash(revision),
      approvedBy: 'editor',
    },
  ]);
}

export async function campaignReaches(
  world: World,
  api: ServiceProcess,
  campaignId: string,
  state: string,
  deadlineMs: number,
): Promise<void> {
  await eventually(`campaign ${campaignId} to be ${state}`, deadlineMs, async () => {
    const campaign = await world.get(api, `/v1/campaigns/${campaignId}`);
    return campaign?.['state'] === state;
  });
}
