/** The states of an operation (DESIGN, section 6). The same words stand in the CHECK constraint of the table. */
export const OPERATION_STATES = [
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

export type OperationState = (typeof OPERATION_STATES)[number];

/**
 * Which state may follow which. Every statement that changes a state names the state it comes from: those with one state
 * on each side are held to this table by a test, and the published states of every operation by `npm run prove`.
 */
export const OPERATION_TRANSITIONS: Readonly<Record<OperationState, readonly OperationState[]>> = {
  'awaiting-approval': ['queued', 'expired', 'cancelled'],
  queued: ['claimed', 'expired', 'cancelled'],
  claimed: ['queued', 'calling', 'suppressed', 'rejected', 'expired', 'cancelled', 'awaiting-approval'],
  calling: ['accepted', 'rejected', 'unknown', 'queued', 'dead'],
  unknown: ['accepted', 'delivered', 'bounced', 'complained', 'rejected', 'queued', 'dead'],
  accepted: ['delivered', 'bounced', 'complained'],
  delivered: ['bounced', 'complained'],
  bounced: ['complained'],
  complained: [],
  suppressed: [],
  rejected: [],
  expired: [],
  cancelled: [],
  dead: [],
};

/** Nothing more will be done by us; receipts may still raise `accepted` and what follows it. */
export const FINAL_STATES: readonly OperationState[] = [
  'accepted',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'rejected',
  'expired',
  'cancelled',
  'dead',
];

export function mayFollow(from: OperationState, to: OperationState): boolean {
  return OPERATION_TRANSITIONS[from].includes(to);
}
