import { campaignContentHash } from '../../src/operations/payload-hash.ts';
import { pollUntil } from '../support/stack/poll-until.ts';
import { CAMPAIGN_ID, SENDER, type Journey } from './journey.ts';
import type { OptOut } from './judge.ts';
import { addressKey, CAMPAIGN_LISTS } from './recipients.ts';

/** The peer tells who is on its lists and who must not be mailed. Returns how many of the latter. */
export async function publishAudience({ world, recipients }: Journey): Promise<number> {
  const suppressions = recipients.flatMap(({ email, suppressed }) => (suppressed ? [{ email, ...suppressed }] : []));
  await world.peer.publish('einmal.suppression.requested.v1', suppressions);
  await world.peer.publish(
    'einmal.subscriber.upserted.v1',
    recipients.map(({ id, email, status, lists, name }) => ({
      subscriberId: id,
      email,
      status,
      lists: [...lists],
      attributes: { name },
    })),
  );
  return suppressions.length;
}

/** The peer submits the campaign, and whoever may approves exactly this content. */
export async function publishCampaign({ world }: Journey): Promise<void> {
  const revision = {
    campaignId: CAMPAIGN_ID,
    revision: 1,
    class: 'marketing' as const,
    from: SENDER.mailbox,
    subject: 'Spring news for {{ subscriber.attributes.name }}',
    html: '<html><body><h1>Hello {{ subscriber.attributes.name }}</h1><p>This is {{ campaign.id }} for {{ subscriber.email }}.</p></body></html>',
    audience: { lists: [...CAMPAIGN_LISTS] },
  };
  await world.peer.publish('einmal.campaign.revision-submitted.v1', [revision]);
  const hash = campaignContentHash(revision);
  await world.peer.publish('einmal.approval.granted.v1', [
    { object: `campaign:${CAMPAIGN_ID}`, revision: 1, hash, approvedBy: 'editor' },
  ]);
}

const OPT_OUT_DEADLINE_MS = 120_000;

/** Some of those who are still queued opt out; resolves when each is in force. `graceMs` as in {@link OptOut}. */
export async function publishOptOuts(journey: Journey, count: number, graceMs: number): Promise<OptOut[]> {
  const { world, ledger, recipients } = journey;
  const chosen = new Set(await ledger.lastQueued(count));
  const emails = recipients.filter(({ id }) => chosen.has(id)).map(({ email }) => email);
  await world.peer.publish(
    'einmal.suppression.requested.v1',
    emails.map((email) => ({ email, scope: 'marketing', reason: 'unsubscribed' as const })),
  );
  return await Promise.all(
    emails.map(async (email) => {
      const key = addressKey(email) ?? '';
      const inForceSince = await pollUntil(async () => await ledger.suppressedSince(key, 'marketing'), {
        deadlineMs: OPT_OUT_DEADLINE_MS,
        everyMs: 50,
      });
      if (!inForceSince) throw new Error('an opt-out did not come into force');
      return { addressKey: key, inForceSince, graceMs };
    }),
  );
}
