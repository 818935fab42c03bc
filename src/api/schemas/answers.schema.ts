import { z } from 'zod';
import { CAMPAIGN_STATES } from '../../campaigns/campaign.states.ts';
import { evidenceSteps, messageClasses, unknownPolicies } from '../../messaging/contracts/vocabulary.ts';
import { OPERATION_STATES } from '../../operations/operation.states.ts';

/** What the API answers. Tests hold each answer to these; nothing is checked at run time. */

const at = z.string().meta({ format: 'date-time' });
const text = z.string();
const count = z.int().min(0);
const hash = text.regex(/^sha256:[0-9a-f]{64}$/);
const uuid = text.meta({ format: 'uuid' });
const state = z.enum(OPERATION_STATES);
const key = text.describe('The operation key.');
const kind = z.enum(['email', 'http', 'steps']).nullable();
const next = text.nullable().describe('The `after` of the next page; null at the end.');
const anyJson = z.unknown();

const page = <T extends z.ZodType>(item: T) => z.strictObject({ items: z.array(item), next });

/** RFC 9457. Problems with a name of their own have further members. */
export const problem = z.looseObject({
  type: text.describe('`about:blank`, or `/problems/NAME`.'),
  title: text,
  status: z.int(),
  detail: text,
  errors: z
    .array(z.strictObject({ field: text.describe('Empty for the request as a whole.'), rule: text }))
    .describe('What is wrong with the request; of status 400.')
    .optional(),
});

const asked = {
  operationKey: key,
  operationId: uuid,
  state,
  payloadHash: hash.describe('Of the request that has the key.'),
  attempts: count,
  effectId: text.nullable(),
  reason: text.nullable(),
  firstSeenAt: at.describe('When the request that has the key arrived; absent when this is the one.').optional(),
  result: anyJson.describe('What a single call has answered, once it has.').optional(),
  results: z
    .record(text, z.strictObject({ result: anyJson, effectId: text.nullable() }))
    .describe('What steps have answered, by name.')
    .optional(),
};

export const askedAnswer = z.strictObject(asked);

export const askedAnswers = z.strictObject({
  items: z
    .array(
      z.strictObject({
        ...z.strictObject(asked).partial().shape,
        operationKey: text.nullable(),
        outcome: text.describe('queued, duplicated, invalid, or the name of a problem.'),
        status: z.int().describe('As a call for this one alone would be answered.'),
        type: text.optional(),
        detail: text.optional(),
        refusedPayloadHash: hash.optional(),
        errors: problem.shape.errors,
      }),
    )
    .describe('In the order of the request.'),
});

const attempt = z.strictObject({
  attemptId: text,
  claimNumber: count,
  purpose: z.enum(['deliver', 'replay']),
  provider: text,
  startedAt: at,
  endedAt: at.nullable(),
  outcome: text.nullable(),
  code: text.nullable(),
  diagnostic: text.nullable(),
  effectId: text.nullable(),
});

const evidence = z.strictObject({
  at,
  step: z.enum(evidenceSteps),
  outcome: text,
  code: text.nullable(),
  diagnostic: text.nullable(),
  decidedBy: text.nullable(),
});

const step = z.strictObject({
  name: text.nullable(),
  version: z.int().nullable(),
  kind: z.enum(['email', 'http']).nullable(),
  state: z.enum(['done', 'now', 'later']),
  inputHash: hash.nullable(),
  result: anyJson,
  effectId: text.nullable(),
  acceptedAt: at.nullable(),
});

export const operation = z.strictObject({
  operationKey: key,
  operationId: uuid,
  kind,
  class: z.enum(messageClasses).nullable(),
  priority: z.int(),
  campaignId: text.nullable(),
  state,
  reason: text.nullable(),
  payloadHash: hash.nullable().describe('Null while only a cancellation is there.'),
  provider: text.nullable(),
  effectId: text.nullable(),
  notBefore: at,
  deadline: at.nullable(),
  createdAt: at,
  changedAt: at,
  scrubbedAt: at.nullable().describe('When request, address and results were removed.'),
  claimNumber: count.describe('Goes up whenever something is tried or decided; decisions name it.'),
  attemptsCounted: count.describe('Attempts that count towards maxAttempts since it was last started.'),
  maxAttempts: count,
  throttles: count,
  crashes: count,
  redriven: count.describe('How often a person started it again.'),
  onUnknown: z.enum(unknownPolicies),
  unknownSince: at.nullable(),
  resolvedBy: text.nullable(),
  doubled: z.boolean(),
  approval: z
    .strictObject({ object: text, revision: z.int(), hash: hash.nullable(), granted: z.boolean() })
    .nullable()
    .describe('What has to be approved, and by which hash, before it or its present step goes on.'),
  steps: z.array(step).nullable(),
  result: anyJson.optional(),
  results: asked.results,
  overdue: z.boolean().describe('Accepted long ago, and the provider has not reported what became of it.'),
  attempts: z.array(attempt),
  evidence: z.array(evidence),
  receipts: z.array(
    z.strictObject({ provider: text, receiptId: text, type: text, occurredAt: at, effectId: text.nullable() }),
  ),
  links: z.strictObject({ self: text, campaign: text.nullable(), audit: text }),
});

const listed = z.strictObject({
  operationKey: key,
  operationId: uuid,
  kind,
  class: z.enum(messageClasses).nullable(),
  campaignId: text.nullable(),
  provider: text.nullable(),
  state,
  reason: text.nullable(),
  claimNumber: count,
  attemptsCounted: count,
  redriven: count,
  effectId: text.nullable(),
  notBefore: at,
  deadline: at.nullable(),
  createdAt: at,
  changedAt: at,
  scrubbedAt: at.nullable(),
  lastAttempt: z
    .strictObject({
      startedAt: at,
      endedAt: at.nullable(),
      outcome: text.nullable(),
      code: text.nullable(),
      diagnostic: text.nullable(),
    })
    .nullable(),
});

export const operationPage = page(listed);
export const operationsByEffectId = z.strictObject({ items: z.array(listed) });

const present = { operationId: uuid, state, claimNumber: count };
export const resolvedAnswer = z.strictObject({ operationKey: key, ...present });
const outcomeOf = (outcomes: readonly string[], more: z.ZodRawShape = {}) =>
  z.strictObject({
    operationKey: key,
    outcome: z.enum(outcomes),
    ...z.strictObject(present).partial().shape,
    ...more,
  });
export const resolvedAnswers = z.strictObject({ items: z.array(outcomeOf(['resolved', 'outdated', 'not-found'])) });

const started = { notBefore: at.optional(), deadline: at.nullable().optional() };
export const redrivenAnswer = outcomeOf(['redriven'], started);
export const redrivenAnswers = z.strictObject({
  items: z.array(
    outcomeOf(
      [
        'redriven',
        'outdated',
        'not-redrivable',
        'refused-at-arrival',
        'scrubbed',
        'campaign-not-sending',
        'provider-not-configured',
        'not-found',
      ],
      started,
    ),
  ),
});

export const cancelAnswer = z.strictObject({
  operationKey: key,
  operationId: uuid,
  outcome: z.enum(['cancelled', 'cancelled-before-request', 'already-ended', 'too-late']),
  state,
  detail: text.optional(),
});

export const approvalAnswer = z.strictObject({
  object: text,
  revision: z.int(),
  granted: z.boolean(),
  hash: hash.nullable(),
  decidedBy: text,
  reason: text.nullable(),
  expiresAt: at.nullable(),
  decidedAt: at,
  campaign: z
    .strictObject({ campaignId: text, revision: z.int(), contentHash: text, state: z.enum(CAMPAIGN_STATES) })
    .nullable()
    .describe('What the campaign has come to; null when it is of something else, or not there yet.'),
});

const counts = z.record(text, count);

export const stats = z.strictObject({
  operations: z
    .record(text, count.nullable())
    .describe('By state. Null of what has ended while the ledger is too large to be counted in time.'),
  oldestSeconds: z
    .record(text, count.nullable())
    .describe('Of what is in motion, by state: how long the oldest waits, null when there is none.'),
  unknownNeedingPerson: count,
  conflictsLastDay: count,
  inMotionCountedAt: at,
  endedCountedAt: at.nullable(),
});

export const campaign = z.strictObject({
  campaignId: text,
  revision: z.int(),
  contentHash: text,
  state: z.enum(CAMPAIGN_STATES),
  reason: text.nullable(),
  approvedBy: text.nullable(),
  scheduledFor: at.nullable(),
  audience: count.nullable(),
  counts: counts.describe('Operations by state; they add up to the audience once it is materialised.'),
  leftOut: counts.describe('Recipients by the reason why they were left out.'),
  createdAt: at,
  startedAt: at.nullable(),
  endedAt: at.nullable(),
});

export const unknownsPage = page(
  z.strictObject({
    operationKey: key,
    operationId: uuid,
    claimNumber: count,
    campaignId: text.nullable(),
    provider: text,
    unknownSince: at,
    ageSeconds: count,
    onUnknown: z.enum(unknownPolicies),
    needsPerson: z.boolean(),
    nextLookAt: at.nullable(),
    reason: text.nullable(),
    attempts: z.strictObject({
      number: count,
      startedAt: at.nullable(),
      outcome: text.nullable(),
      code: text.nullable(),
      diagnostic: text.nullable(),
    }),
    tried: z.array(evidence),
    missing: z.array(z.enum(['key-window-open', 'lookup-pending', 'receipt-pending', 'nothing'])),
  }),
);

export const providers = z.strictObject({
  items: z.array(
    z.strictObject({
      name: text,
      kind: text.nullable(),
      stopped: z.strictObject({ since: at, until: at, code: text, diagnostic: text }).nullable(),
    }),
  ),
});
export const resumedAnswer = z.strictObject({ name: text, resumed: z.boolean() });

export const auditPage = page(
  z.strictObject({
    auditId: text,
    at,
    actor: text.describe('The name of the token.'),
    action: text,
    object: text,
    reason: text,
    before: anyJson,
    after: anyJson,
  }),
);

export const erasureRequested = z.strictObject({ erasureId: uuid, links: z.strictObject({ self: text }) });
export const erasure = z.strictObject({
  erasureId: uuid,
  requestedAt: at,
  endedAt: at.nullable().describe('Null while it is under way.'),
  report: z
    .strictObject({
      subscribers: count,
      operations: count,
      cancelled: count,
      requests: count,
      results: count,
      receipts: count,
      campaignExclusions: count,
      deadLetters: count,
      deliveries: count,
    })
    .describe('What was erased so far, in rows.'),
});

export const problemDescription = z.strictObject({ type: text, title: text, status: z.int(), description: text });
export const document = z.looseObject({}).describe('The document itself.');
export const health = z.looseObject({ status: text });
export const metrics = text;
