/** Examples of the document. A test holds each to its schema. */

const OPERATION = {
  operationKey: 'order-17:confirmation',
  operationId: '3f0f2d5e-3c0b-5a51-9d0e-2f6a0c9e8b7a',
} as const;
const PAYLOAD_HASH = 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef';
const AT = '2026-12-01T08:00:00.000Z';

export const askedFor = {
  kind: 'email',
  class: 'transactional',
  deadline: '2026-12-01T12:00:00Z',
  request: {
    to: 'ada@example.org',
    from: 'Example Shop <orders@example.org>',
    subject: 'Your order 17',
    html: '<p>Thank you, Ada.</p>',
  },
};

export const asked = {
  ...OPERATION,
  state: 'queued',
  payloadHash: PAYLOAD_HASH,
  attempts: 0,
  effectId: null,
  reason: null,
};

export const askedAgain = {
  ...asked,
  state: 'accepted',
  attempts: 1,
  effectId: '<order-17@mail.example.org>',
  firstSeenAt: AT,
};

const listed = {
  ...OPERATION,
  kind: 'email',
  class: 'transactional',
  campaignId: null,
  provider: 'main',
  state: 'dead',
  reason: 'attempts-used-up',
  claimNumber: 12,
  attemptsCounted: 12,
  redriven: 0,
  effectId: null,
  notBefore: AT,
  deadline: null,
  createdAt: AT,
  changedAt: AT,
  scrubbedAt: null,
  lastAttempt: { startedAt: AT, endedAt: AT, outcome: 'not-sent', code: 'smtp-451', diagnostic: 'try again later' },
};

export const operationPage = { items: [listed], next: null };

const { lastAttempt: _, ...row } = listed;

export const operation = {
  ...row,
  priority: 5,
  payloadHash: PAYLOAD_HASH,
  maxAttempts: 12,
  throttles: 0,
  crashes: 0,
  onUnknown: 'hold',
  unknownSince: null,
  resolvedBy: null,
  doubled: false,
  approval: null,
  steps: null,
  overdue: false,
  attempts: [
    {
      attemptId: `${OPERATION.operationId}.12`,
      claimNumber: 12,
      purpose: 'deliver',
      provider: 'main',
      startedAt: AT,
      endedAt: AT,
      outcome: 'not-sent',
      code: 'smtp-451',
      diagnostic: 'try again later',
      effectId: null,
    },
  ],
  evidence: [],
  receipts: [],
  links: {
    self: `/v1/operations/by-id/${OPERATION.operationId}`,
    campaign: null,
    audit: '/v1/audit?object=order-17%3Aconfirmation',
  },
};

export const decision = { as: 'sent', reason: 'the provider confirmed it by phone', claimNumber: 2 };
export const resolved = { ...OPERATION, state: 'accepted', claimNumber: 3 };
export const decisions = {
  as: 'not-sent',
  reason: 'the provider was down',
  operations: [{ operationKey: OPERATION.operationKey, claimNumber: 2 }],
};
export const cancelled = { ...OPERATION, outcome: 'cancelled', state: 'cancelled' };
export const cancelledTooLate = {
  ...OPERATION,
  outcome: 'too-late',
  state: 'calling',
  detail: 'too late, the outcome follows',
};
export const redriven = {
  ...OPERATION,
  outcome: 'redriven',
  state: 'queued',
  claimNumber: 13,
  notBefore: AT,
  deadline: null,
};
export const redriveMany = {
  reason: 'the server is well again',
  perSecond: 20,
  operations: [{ operationKey: OPERATION.operationKey, claimNumber: 12 }],
};
export const grant = {
  object: 'campaign:cmp_42',
  revision: 3,
  hash: PAYLOAD_HASH,
  approvedBy: 'editor:grace',
  expiresAt: '2026-12-31T23:59:59Z',
};
export const granted = {
  object: 'campaign:cmp_42',
  revision: 3,
  granted: true,
  hash: PAYLOAD_HASH,
  decidedBy: 'editor:grace',
  reason: null,
  expiresAt: '2026-12-31T23:59:59.000Z',
  decidedAt: AT,
  campaign: { campaignId: 'cmp_42', revision: 3, contentHash: PAYLOAD_HASH, state: 'approved' },
};
export const stats = {
  operations: { queued: 120, accepted: 90_310, dead: 2, unknown: 1 },
  oldestSeconds: { queued: 4, unknown: 320, claimed: null },
  unknownNeedingPerson: 1,
  conflictsLastDay: 0,
  inMotionCountedAt: AT,
  endedCountedAt: AT,
};
