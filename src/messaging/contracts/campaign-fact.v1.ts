import { z } from 'zod';

import { defineContract } from './contract.ts';
import { hash, id, MAX_LIST, reason, revision } from './fields.ts';
import { campaignStates, operationStates } from './vocabulary.ts';

const count = z.int().min(0);

const members = {
  campaignId: id.describe("The peer's id of the campaign."),
  revision: revision.describe('The revision it is about.'),
  contentHash: hash.describe('Of that revision; an approval must repeat it.'),
  state: z.enum(campaignStates).describe('The state after what happened.'),
  counts: z
    .partialRecord(z.enum(operationStates), count)
    .describe('Operations by state; states without any may be absent. Their sum is the audience.'),
  reason: reason.describe('Why, in words or as a code.').optional(),
};

const plain = z.strictObject(members);

const EXAMPLE = {
  campaignId: 'cmp_42',
  revision: 3,
  contentHash: 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
} as const;

const key = (data: { readonly campaignId: string }): string => data.campaignId;

export const campaignDrafted = defineContract({
  type: 'einmal.campaign.drafted.v1',
  topic: 'events',
  description: 'A revision was stored. Whoever approves it copies `contentHash` into `einmal.approval.granted.v1`.',
  schema: plain,
  example: { ...EXAMPLE, state: 'drafted', counts: {} },
  entityKey: key,
});

export const campaignApproved = defineContract({
  type: 'einmal.campaign.approved.v1',
  topic: 'events',
  description: 'An approval names the newest revision and its content hash.',
  schema: plain,
  example: { ...EXAMPLE, state: 'approved', counts: {} },
  entityKey: key,
});

export const campaignMaterialised = defineContract({
  type: 'einmal.campaign.materialised.v1',
  topic: 'events',
  description: 'The audience is frozen and counted, one operation for each address.',
  schema: z.strictObject({
    ...members,
    leftOut: z
      .record(id, count)
      .refine((reasons) => Object.keys(reasons).length <= MAX_LIST, `must have at most ${MAX_LIST} reasons`)
      .describe('Subscribers left out, counted by reason.')
      .optional(),
  }),
  example: {
    ...EXAMPLE,
    state: 'sending',
    counts: { queued: 4_981 },
    leftOut: { suppressed: 14, 'same-address': 4, invalid: 1 },
  },
  entityKey: key,
});

export const campaignStarted = defineContract({
  type: 'einmal.campaign.started.v1',
  topic: 'events',
  description: 'Mails of the campaign may be called from now on.',
  schema: plain,
  example: { ...EXAMPLE, state: 'sending', counts: { queued: 4_981 } },
  entityKey: key,
});

export const campaignPaused = defineContract({
  type: 'einmal.campaign.paused.v1',
  topic: 'events',
  description: 'No further mail is started.',
  schema: plain,
  example: { ...EXAMPLE, state: 'paused', counts: { queued: 2_000, accepted: 2_981 }, reason: 'wrong price on page 2' },
  entityKey: key,
});

export const campaignResumed = defineContract({
  type: 'einmal.campaign.resumed.v1',
  topic: 'events',
  description: 'A paused campaign goes on.',
  schema: plain,
  example: { ...EXAMPLE, state: 'sending', counts: { queued: 2_000, accepted: 2_981 } },
  entityKey: key,
});

export const campaignCompleted = defineContract({
  type: 'einmal.campaign.completed.v1',
  topic: 'events',
  description: 'Every operation of the audience is in a final state.',
  schema: plain,
  example: { ...EXAMPLE, state: 'completed', counts: { accepted: 4_975, suppressed: 4, rejected: 2 } },
  entityKey: key,
});

export const campaignCancelled = defineContract({
  type: 'einmal.campaign.cancelled.v1',
  topic: 'events',
  description: 'The campaign was ended; what was not called yet is cancelled.',
  schema: plain,
  example: { ...EXAMPLE, state: 'cancelled', counts: { accepted: 2_981, cancelled: 2_000 } },
  entityKey: key,
});

export const campaignRefused = defineContract({
  type: 'einmal.campaign.refused.v1',
  topic: 'events',
  description:
    'A revision, approval or control request had no effect; `causationid` names it and `reason` says why. Nothing but the id may be known.',
  schema: plain.partial({ revision: true, contentHash: true, state: true, counts: true }).required({ reason: true }),
  example: { campaignId: 'cmp_42', revision: 2, state: 'drafted', reason: 'revision-not-newest' },
  entityKey: key,
});

/** In the order of the documentation. */
export const campaignFacts = [
  campaignDrafted,
  campaignApproved,
  campaignMaterialised,
  campaignStarted,
  campaignPaused,
  campaignResumed,
  campaignCompleted,
  campaignCancelled,
  campaignRefused,
] as const;
