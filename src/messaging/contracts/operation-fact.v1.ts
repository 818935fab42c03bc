import { z } from 'zod';

import { defineContract } from './contract.ts';
import { diagnostic, effectId, hash, headerText, id, operationKey, reason, time, uuid } from './fields.ts';
import { evidenceSteps, operationStates, resolvers, unknownPolicies } from './vocabulary.ts';

const EXAMPLE = {
  operationKey: 'order-17:confirmation',
  operationId: '3f0f2d5e-3c0b-5a51-9d0e-2f6a0c9e8b7a',
  payloadHash: 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
} as const;

const called = { attempt: 1, effectId: '<order-17@mail.example.org>' } as const;

/** Every fact about an operation has these. */
const base = {
  operationKey: operationKey.describe('As in the request.'),
  operationId: uuid.describe('UUIDv5 of tenant and operation key.'),
  state: z.enum(operationStates).describe('The state after what happened.'),
  payloadHash: hash.describe('Of the operation in the ledger.'),
  attempt: z.int().min(1).max(1_000_000).describe('The number of the last attempt.').optional(),
  effectId: effectId.describe("The provider's id of what it did.").optional(),
  campaignId: id.describe('When the operation belongs to a campaign.').optional(),
  reason: reason.describe('Why, in words or as a code.').optional(),
};

const plain = z.strictObject(base);

const judged = z.strictObject({
  ...base,
  code: headerText(100).describe("The provider's code, e.g. smtp-550 or 5.1.1.").optional(),
  diagnostic: diagnostic.describe('What the provider said, without addresses.').optional(),
});

/** What was done to find out, and what came of it. */
const evidenceStep = z.strictObject({
  step: z.enum(evidenceSteps),
  outcome: headerText(100).describe('What came of it, e.g. `miss` of a lookup or `concurrent` of a replay.'),
  at: time,
  code: headerText(100).describe("The provider's code.").optional(),
});

const told = {
  ...judged.shape,
  unknownSince: time.describe('When the outcome became unknown.').optional(),
  evidence: z.array(evidenceStep).max(50).describe('What was tried to find out, in order; the newest 50.').optional(),
};

const key = (data: { readonly operationId: string }): string => data.operationId;

export const operationQueued = defineContract({
  type: 'einmal.operation.queued.v1',
  topic: 'events',
  description: "The operation is in the ledger and will be attempted. Not published for a campaign's own operations.",
  schema: plain,
  example: { ...EXAMPLE, state: 'queued' },
  entityKey: key,
});

export const operationDuplicated = defineContract({
  type: 'einmal.operation.duplicated.v1',
  topic: 'events',
  description:
    'The same operation was asked for again. Nothing was done; state and result are those of the first request.',
  schema: plain,
  example: { ...EXAMPLE, ...called, state: 'accepted' },
  entityKey: key,
});

export const operationConflicted = defineContract({
  type: 'einmal.operation.conflicted.v1',
  topic: 'events',
  description:
    'The key was used again for something else. It was refused; the operation in the ledger goes on unchanged.',
  schema: z.strictObject({
    ...base,
    refusedPayloadHash: hash.describe('Of the request that was refused.'),
  }),
  example: {
    ...EXAMPLE,
    state: 'queued',
    refusedPayloadHash: 'sha256:9b74c9897bac770ffc029102a200c5de3f2e1d0c9b8a79685746352413021100',
  },
  entityKey: key,
});

export const operationSuppressed = defineContract({
  type: 'einmal.operation.suppressed.v1',
  topic: 'events',
  description: 'The recipient must not be mailed. The provider was not called.',
  schema: plain,
  example: { ...EXAMPLE, state: 'suppressed', campaignId: 'cmp_42', reason: 'marketing' },
  entityKey: key,
});

export const operationAccepted = defineContract({
  type: 'einmal.operation.accepted.v1',
  topic: 'events',
  description: 'The provider took it over.',
  schema: judged,
  example: { ...EXAMPLE, ...called, state: 'accepted', code: 'smtp-250' },
  entityKey: key,
});

export const operationDelivered = defineContract({
  type: 'einmal.operation.delivered.v1',
  topic: 'events',
  description: 'The provider reports that it arrived.',
  schema: judged,
  example: { ...EXAMPLE, ...called, state: 'delivered' },
  entityKey: key,
});

export const operationBounced = defineContract({
  type: 'einmal.operation.bounced.v1',
  topic: 'events',
  description: 'The provider reports that it could not be delivered.',
  schema: judged,
  example: { ...EXAMPLE, ...called, state: 'bounced', code: '5.1.1', diagnostic: 'mailbox does not exist' },
  entityKey: key,
});

export const operationComplained = defineContract({
  type: 'einmal.operation.complained.v1',
  topic: 'events',
  description: 'The recipient called it spam.',
  schema: judged,
  example: { ...EXAMPLE, ...called, state: 'complained' },
  entityKey: key,
});

export const operationRejected = defineContract({
  type: 'einmal.operation.rejected.v1',
  topic: 'events',
  description: 'The provider refused it for good. Nothing was sent.',
  schema: judged,
  example: { ...EXAMPLE, attempt: 1, state: 'rejected', code: 'smtp-550', diagnostic: 'no such user' },
  entityKey: key,
});

export const operationUnknown = defineContract({
  type: 'einmal.operation.unknown.v1',
  topic: 'events',
  description:
    'The provider was or may have been called, and nothing tells the outcome yet. Published again with `needsPerson` when no evidence is expected any more and a person has to decide.',
  schema: z.strictObject({
    ...told,
    needsPerson: z.boolean().describe('Nothing more will be tried without a person.').optional(),
  }),
  example: { ...EXAMPLE, attempt: 1, state: 'unknown', reason: 'lease-expired' },
  entityKey: key,
});

export const operationResolved = defineContract({
  type: 'einmal.operation.resolved.v1',
  topic: 'events',
  description: 'An unknown outcome became known or was decided; `state` says what holds now.',
  schema: z.strictObject({
    ...told,
    resolvedBy: z
      .enum(resolvers)
      .describe(
        'By what: the same key again, asking the provider, a receipt, the answer of a worker that was taken for lost, a person, or `onUnknown`.',
      ),
    policy: z.enum(unknownPolicies).describe('The policy, when it decided.').optional(),
    doubled: z.boolean().describe('Evidence shows more than one effect.').optional(),
  }),
  example: {
    ...EXAMPLE,
    ...called,
    state: 'accepted',
    resolvedBy: 'receipt',
    evidence: [{ step: 'receipt', outcome: 'delivered', at: '2026-12-01T08:00:07.000Z', code: 'rcp_991' }],
  },
  entityKey: key,
});

export const operationExpired = defineContract({
  type: 'einmal.operation.expired.v1',
  topic: 'events',
  description: 'The deadline passed before an attempt could succeed.',
  schema: plain,
  example: { ...EXAMPLE, state: 'expired', reason: 'deadline' },
  entityKey: key,
});

export const operationCancelled = defineContract({
  type: 'einmal.operation.cancelled.v1',
  topic: 'events',
  description: 'It was cancelled before the provider was called.',
  schema: plain,
  example: { ...EXAMPLE, state: 'cancelled', reason: 'order was cancelled' },
  entityKey: key,
});

export const operationDead = defineContract({
  type: 'einmal.operation.dead.v1',
  topic: 'events',
  description: 'All attempts are used up, each known to have had no effect. A person may start it again.',
  schema: judged,
  example: { ...EXAMPLE, attempt: 8, state: 'dead', code: 'smtp-451', reason: 'attempts-used-up' },
  entityKey: key,
});

/** In the order of the documentation. */
export const operationFacts = [
  operationQueued,
  operationDuplicated,
  operationConflicted,
  operationSuppressed,
  operationAccepted,
  operationDelivered,
  operationBounced,
  operationComplained,
  operationRejected,
  operationUnknown,
  operationResolved,
  operationExpired,
  operationCancelled,
  operationDead,
] as const;
