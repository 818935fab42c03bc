import { z } from 'zod';
import { strictMap } from '../../config/schema-parts.ts';
import { operationKey, storedText, time } from '../../messaging/contracts/fields.ts';

/** A reason is needed: it is what the audit is for. */
const reason = storedText(1000).refine((text) => text === '' || /\S/u.test(text), 'must not be blank');

/** As the list of unknowns or the operation itself shows it. */
const claimNumber = z.int().min(0);

const decision = {
  as: z.enum(['sent', 'not-sent', 'wait']),
  reason,
  until: time.optional(),
};

type Given = { readonly as: string; readonly until?: string | undefined };

/** The two belong together: a wait has an end, and whatever is decided has none. */
function untilWithWait({ as, until }: Given, context: z.RefinementCtx<Given>): void {
  if ((as === 'wait') === (until !== undefined)) return;
  const message = as === 'wait' ? 'is required' : 'is for wait only';
  context.addIssue({ code: 'custom', path: ['until'], message });
}

export const operationDecision = strictMap({ ...decision, claimNumber }).superRefine(untilWithWait);
export type OperationDecision = z.output<typeof operationDecision>;

/** In one transaction, whose locks others wait for. */
export const MAX_DECIDED = 1000;

const decidedOperations = z
  .array(strictMap({ operationKey, claimNumber }))
  .min(1)
  .max(MAX_DECIDED)
  .superRefine((operations, context) => {
    const seen = new Set<string>();
    for (const [index, { operationKey: key }] of operations.entries()) {
      if (seen.has(key)) {
        const message = 'is there twice';
        context.addIssue({ code: 'custom', path: [index, 'operationKey'], message });
      }
      seen.add(key);
    }
  });

export const unknownsDecision = strictMap({ ...decision, operations: decidedOperations }).superRefine(untilWithWait);
export type UnknownsDecision = z.output<typeof unknownsDecision>;

export const providerDecision = strictMap({ reason });
export type ProviderDecision = z.output<typeof providerDecision>;
