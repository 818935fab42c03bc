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
