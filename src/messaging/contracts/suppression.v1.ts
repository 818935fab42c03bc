import { z } from 'zod';

import { defineContract } from './contract.ts';
import { addressHash, by, email, id, reason, scope, time } from './fields.ts';
import { suppressionReasons } from './vocabulary.ts';

const scopeField = scope.describe('`all`, `marketing`, or `list:` and the id of a list.');

export const suppressionRequested = defineContract({
  type: 'einmal.suppression.requested.v1',
  topic: 'suppressions',
  description: 'This address must not be mailed any more within the scope.',
  schema: z.strictObject({
    email: email.describe('The address; case and the form of the domain do not matter.'),
    scope: scopeField,
    reason: z.enum(suppressionReasons),
    expiresAt: time.describe('End of the suppression; without it, it stays.').optional(),
  }),
  example: { email: 'ada@example.org', scope: 'marketing', reason: 'unsubscribed' },
  entityKey: (data) => data.email,
});

export const suppressionLiftRequested = defineContract({
  type: 'einmal.suppression.lift-requested.v1',
  topic: 'suppressions',
  description: 'The suppression of exactly this scope is to be lifted.',
  schema: z.strictObject({
    email: email.describe('The address.'),
    scope: scopeField,
    by: by.describe('Who decided.'),
    reason: reason.min(1).describe('Why, in words; kept in the audit.'),
  }),
  example: { email: 'ada@example.org', scope: 'marketing', by: 'support:grace', reason: 'asked for it by telephone' },
  entityKey: (data) => data.email,
});

const hashField = addressHash.describe('SHA-256 of the normalised address in hex: facts carry no addresses.');
const causeField = id.max(512).describe('What led to it: the `ce_id` of a request, a receipt, or a person.');

export const suppressionAdded = defineContract({
  type: 'einmal.suppression.added.v1',
  topic: 'events',
  description: 'The address is suppressed within the scope.',
  schema: z.strictObject({
    addressHash: hashField,
    scope: scopeField,
    reason: z.enum(suppressionReasons),
    cause: causeField,
  }),
  example: {
    addressHash: '8f3e2ab1c4d5968778695a4b3c2d1e0f8f3e2ab1c4d5968778695a4b3c2d1e0f',
    scope: 'marketing',
    reason: 'unsubscribed',
    cause: 'b2f6b9d0-59c9-4f2b-8a52-b0a9f0a0c7d1',
  },
  entityKey: (data) => data.addressHash,
});

export const suppressionLifted = defineContract({
  type: 'einmal.suppression.lifted.v1',
  topic: 'events',
  description: 'The suppression of this scope has ended.',
  schema: z.strictObject({
    addressHash: hashField,
    scope: scopeField,
    reason: reason.describe('Why, in the words of the request, or `expired`.'),
    cause: causeField,
  }),
  example: {
    addressHash: '8f3e2ab1c4d5968778695a4b3c2d1e0f8f3e2ab1c4d5968778695a4b3c2d1e0f',
    scope: 'marketing',
    reason: 'asked for it by telephone',
    cause: '0d8a1f4e-6f5e-4d5c-9c1b-3f1d2e4a5b6c',
  },
  entityKey: (data) => data.addressHash,
});
