import { z } from 'zod';

import { defineContract } from './contract.ts';
import { diagnostic, headerText, id, time } from './fields.ts';

const provider = id.describe('The name of the provider in the configuration.');

export const providerStopped = defineContract({
  type: 'einmal.provider.stopped.v1',
  topic: 'events',
  description:
    'The provider refuses the account (credentials, quota, paused). Nothing is handed to it; operations stay queued. It is tried again by itself.',
  schema: z.strictObject({
    provider,
    code: headerText(100).describe("The provider's code, e.g. http-401."),
    diagnostic: diagnostic.describe('What the provider said, without addresses.'),
  }),
  example: { provider: 'postmark', code: 'http-401', diagnostic: 'the server token is not valid' },
  entityKey: (data) => data.provider,
});

export const providerResumed = defineContract({
  type: 'einmal.provider.resumed.v1',
  topic: 'events',
  description: 'The provider works again, or a person let it go on.',
  schema: z.strictObject({
    provider,
    code: headerText(100).describe('Why it had stopped.'),
    stoppedAt: time.describe('When it had stopped.'),
  }),
  example: { provider: 'postmark', code: 'http-401', stoppedAt: '2026-12-01T08:00:07.000Z' },
  entityKey: (data) => data.provider,
});

export const providerFacts = [providerStopped, providerResumed] as const;
