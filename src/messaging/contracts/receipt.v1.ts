import { z } from 'zod';

import { defineContract } from './contract.ts';
import { diagnostic, effectId, email, headerText, id, time } from './fields.ts';
import { receiptTypes } from './vocabulary.ts';

export const receiptReported = defineContract({
  type: 'einmal.receipt.reported.v1',
  topic: 'receipts',
  description: 'What a provider reports after the call. It may arrive before the operation knows its effect id.',
  schema: z
    .strictObject({
      provider: id.describe('The name of the provider in the configuration.'),
      receiptId: id.describe("The provider's id of this report; the same one counts once."),
      reference: id.describe('Our reference given to the provider: the operation id.').optional(),
      effectId: effectId.describe("The provider's id of the effect.").optional(),
      type: z.enum(receiptTypes),
      occurredAt: time.describe('When it happened, by the clock of the provider.'),
      email: email.describe('The address it is about.').optional(),
      code: headerText(100).describe('The status code, e.g. 5.1.1.').optional(),
      diagnostic: diagnostic.describe('What the provider said, in words.').optional(),
    })
    .refine((data) => data.reference !== undefined || data.effectId !== undefined || data.email !== undefined, {
      error: 'must have reference, effectId or email',
    }),
  example: {
    provider: 'smtp-main',
    receiptId: 'rcp_991',
    reference: '3f0f2d5e-3c0b-5a51-9d0e-2f6a0c9e8b7a',
    type: 'bounced',
    occurredAt: '2026-12-01T08:00:07Z',
    code: '5.1.1',
    diagnostic: 'mailbox does not exist',
  },
  entityKey: (data) => data.reference ?? data.effectId ?? data.receiptId,
});
