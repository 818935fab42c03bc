import { z } from 'zod';

import { defineContract } from './contract.ts';
import { emailRequest, httpRequest } from './effect-request.ts';
import { by, headerText, messageClass, onUnknown, operationKey, reason, revision, stepName, time } from './fields.ts';

const operationKeyField = operationKey.describe('Names the intended effect for ever; any characters but U+0000.');

const MAX_STEPS = 20;

/** Asked for of every kind. */
const common = {
  operationKey: operationKeyField,
  class: messageClass
    .describe('Decides the lane and which suppressions apply; `transactional` when absent.')
    .optional(),
  priority: z.int().min(0).max(9).describe('9 goes first; 5 when absent.').optional(),
  notBefore: time.describe('Not to be attempted earlier.').optional(),
  deadline: time
    .describe('Not to be attempted later; a request that arrives after it is expired, never executed.')
    .optional(),
  maxAttempts: z.int().min(1).max(100).describe('Attempts that may fail before the operation is dead.').optional(),
  onUnknown: onUnknown.describe('What happens when nothing can tell the outcome; `hold` when absent.').optional(),
  approval: z
    .strictObject({ object: headerText(512).describe('As in the approval.'), revision })
    .describe('Wait for this approval; its hash must be the payload hash.')
    .optional(),
};

const stepParts = {
  name: stepName.describe('Names the step in results and history; unique in the operation.'),
  version: z.int().min(1).max(1_000_000).describe('Of what the step does; 1 for the first.'),
  approval: z
    .strictObject({ object: headerText(512).describe('As in the approval.'), revision })
    .describe("Wait before this step for this approval; its hash must be the step's input hash.")
    .optional(),
};

const step = z.discriminatedUnion('kind', [
  z.strictObject({ ...stepParts, kind: z.literal('email'), request: emailRequest }),
  z.strictObject({ ...stepParts, kind: z.literal('http'), request: httpRequest }),
]);

const stepsRequest = z.strictObject({
  steps: z
    .array(step)
    .min(1)
    .max(MAX_STEPS)
    .refine((steps) => new Set(steps.map(({ name }) => name)).size === steps.length, 'must not repeat a name')
    .describe(
      'Done in order, each once. Texts of a request may use what earlier steps answered: `{{ steps.NAME.result.MEMBER }}`.',
    ),
});

const requested = z.discriminatedUnion('kind', [
  z
    .strictObject({ ...common, kind: z.literal('email'), request: emailRequest })
    .refine(
      (data) => data.class === undefined || data.request.class === undefined || data.class === data.request.class,
      {
        path: ['class'],
        error: 'must not differ from request.class',
      },
    ),
  z.strictObject({ ...common, kind: z.literal('http'), request: httpRequest }),
  z.strictObject({ ...common, kind: z.literal('steps'), request: stepsRequest }),
]);

export const operationRequested = defineContract({
  type: 'einmal.operation.requested.v1',
  topic: 'operations',
  description:
    'One intended effect. The same key with the same `kind, request, class, approval` is the same operation again; with other ones it is a conflict.',
  schema: requested,
  example: {
    operationKey: 'order-17:confirmation',
    kind: 'email',
    class: 'transactional',
    deadline: '2026-12-01T12:00:00Z',
    request: {
      to: 'ada@example.org',
      from: 'Example Shop <orders@example.org>',
      subject: 'Your order 17',
      html: '<p>Thank you, Ada.</p>',
    },
  },
  entityKey: (data) => data.operationKey,
});

export const operationCancelRequested = defineContract({
  type: 'einmal.operation.cancel-requested.v1',
  topic: 'operations',
  description: 'Do not execute this operation. If the request comes later, it finds the operation cancelled.',
  schema: z.strictObject({
    operationKey: operationKeyField,
    by: by.describe('Who decided.'),
    reason: reason.describe('Why, in words.').optional(),
  }),
  example: { operationKey: 'order-17:confirmation', by: 'support:grace', reason: 'order was cancelled' },
  entityKey: (data) => data.operationKey,
});
