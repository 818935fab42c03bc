/** The closed sets of words that messages use. */

export const operationStates = [
  'awaiting-approval',
  'queued',
  'claimed',
  'calling',
  'accepted',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'rejected',
  'unknown',
  'expired',
  'cancelled',
  'dead',
] as const;

export const campaignStates = [
  'drafted',
  'approved',
  'scheduled',
  'materialising',
  'sending',
  'paused',
  'completed',
  'cancelled',
] as const;

export const subscriberStatuses = ['pending', 'confirmed', 'unsubscribed'] as const;
export const messageClasses = ['marketing', 'transactional'] as const;
export const unknownPolicies = ['hold', 'resend', 'assume-sent'] as const;
/** How an outcome may become known, or be decided. */
export const resolvers = ['replay', 'lookup', 'receipt', 'late-result', 'person', 'policy'] as const;
/** What is tried or arrives to find out; one of them may resolve. */
export const evidenceSteps = resolvers;
export const suppressionReasons = ['unsubscribed', 'hard-bounce', 'complaint', 'manual'] as const;
export const receiptTypes = [
  'accepted',
  'delivered',
  'deferred',
  'bounced',
  'complained',
  'rejected',
  'unsubscribed',
] as const;
export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
