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

/** Somebody decided that an earlier call had no effect, and then evidence came that it had one: it is not called again. */
const EVIDENCE_OF_AN_EARLIER_CALL = ['accepted', 'delivered', 'bounced', 'complained'] as const;

/**
 * Which state may follow which. Every statement that changes a state names the state it comes from: those with one state
 * on each side are held to this table by a test, and the published states of every operation by `npm run prove`.
 */
export const OPERATION_TRANSITIONS: Readonly<Record<OperationState, readonly OperationState[]>> = {
  'awaiting-approval': ['queued', 'expired', 'cancelled', ...EVIDENCE_OF_AN_EARLIER_CALL],
  queued: ['claimed', 'expired', 'cancelled', ...EVIDENCE_OF_AN_EARLIER_CALL],
  claimed: [
    'queued',
    'calling',
    'suppressed',
    'rejected',
    'expired',
    'cancelled',
    'awaiting-approval',
    'dead',
    ...EVIDENCE_OF_AN_EARLIER_CALL,
  ],
  calling: ['accepted', 'rejected', 'suppressed', 'unknown', 'queued', 'dead'],
  unknown: [
    'accepted',
    'delivered',
    'bounced',
    'complained',
    'rejected',
    'suppressed',
    'queued',
    'dead',
    // A step was resolved, and the next one needs an approval.
    'awaiting-approval',
  ],
  // A provider may refuse what it has taken, and a peer on Kafka takes what is suppressed before it is published.
  accepted: ['delivered', 'bounced', 'complained', 'rejected', 'suppressed'],
  delivered: ['bounced', 'complained'],
  bounced: ['complained'],
  complained: [],
  suppressed: EVIDENCE_OF_AN_EARLIER_CALL,
  // A person may start again what ended without an effect.
  rejected: ['queued', ...EVIDENCE_OF_AN_EARLIER_CALL],
  expired: ['queued', ...EVIDENCE_OF_AN_EARLIER_CALL],
  cancelled: EVIDENCE_OF_AN_EARLIER_CALL,
  dead: ['queued', ...EVIDENCE_OF_AN_EARLIER_CALL],
};

/** What a person may start again. */
export const REDRIVABLE_STATES: readonly OperationState[] = ['dead', 'rejected', 'expired'];

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
