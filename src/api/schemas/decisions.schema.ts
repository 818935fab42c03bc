import { z } from 'zod';
import { strictMap } from '../../config/schema-parts.ts';
import {
  by,
  email,
  hash,
  headerText,
  id,
  operationKey,
  revision,
  storedText,
  time,
} from '../../messaging/contracts/fields.ts';

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
/** The same for operations that are asked for in one call. */
export const MAX_ASKED = 1000;

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

const redrive = {
  reason,
  deadline: time.describe('Instead of the one that it had; when absent, one that has passed is dropped.').optional(),
};

export const operationRedrive = strictMap({ ...redrive, claimNumber });
export type OperationRedrive = z.output<typeof operationRedrive>;

export const operationsRedrive = strictMap({
  ...redrive,
  perSecond: z.number().min(0.01).max(10_000).describe('Spreads them over time; all at once when absent.').optional(),
  operations: decidedOperations,
});
export type OperationsRedrive = z.output<typeof operationsRedrive>;

export const operationCancel = strictMap({ reason });
export type OperationCancel = z.output<typeof operationCancel>;

const approved = {
  object: headerText(512).describe("`campaign:` and a campaign's id, or any name that operations ask for."),
  revision,
};

export const approvalGrant = strictMap({
  ...approved,
  hash: hash.describe('The content hash of the campaign, or the payload hash or input hash that the operation shows.'),
  approvedBy: by.describe('Who approved; the name of the token when absent.').optional(),
  expiresAt: time.describe('The approval holds until then.').optional(),
});
export type ApprovalGrant = z.output<typeof approvalGrant>;

export const approvalWithdrawal = strictMap({ ...approved, reason });
export type ApprovalWithdrawal = z.output<typeof approvalWithdrawal>;

export const erasureRequest = strictMap({
  email: email.describe('Everybody with this address.').optional(),
  subscriberId: id.describe('One subscriber, with the address that is known of them.').optional(),
  reason,
}).superRefine(({ email: address, subscriberId }, context) => {
  if ((address === undefined) !== (subscriberId === undefined)) return;
  context.addIssue({ code: 'custom', path: [], message: 'must have email or subscriberId, and not both' });
});
export type ErasureRequest = z.output<typeof erasureRequest>;
