import { z } from 'zod';

import { defineContract } from './contract.ts';
import { by, hash, headerText, reason, revision, time } from './fields.ts';

const object = headerText(512).describe(
  "What is approved: `campaign:` and a campaign's id, or any name of the peer's.",
);

export const approvalGranted = defineContract({
  type: 'einmal.approval.granted.v1',
  topic: 'approvals',
  description: 'Exactly this revision with exactly this content is approved. It may arrive before the revision does.',
  schema: z.strictObject({
    object,
    revision,
    hash: hash.describe('For a campaign, the `contentHash` of `einmal.campaign.drafted.v1`.'),
    approvedBy: by.describe('Who approved.'),
    expiresAt: time.describe('The approval holds until then.').optional(),
  }),
  example: {
    object: 'campaign:cmp_42',
    revision: 3,
    hash: 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
    approvedBy: 'editor:grace',
    expiresAt: '2026-12-31T23:59:59Z',
  },
  entityKey: (data) => data.object,
});

export const approvalWithdrawn = defineContract({
  type: 'einmal.approval.withdrawn.v1',
  topic: 'approvals',
  description: 'The approval of this revision holds no longer.',
  schema: z.strictObject({
    object,
    revision,
    by: by.describe('Who withdrew it.'),
    reason: reason.describe('Why, in words.').optional(),
  }),
  example: { object: 'campaign:cmp_42', revision: 3, by: 'editor:grace', reason: 'wrong price on page 2' },
  entityKey: (data) => data.object,
});
