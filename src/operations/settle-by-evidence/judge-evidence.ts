import type { OperationState } from '../operation.states.ts';

/** A try, as the ledger keeps it. */
export interface AttemptEvidence {
  readonly purpose: 'deliver' | 'replay';
  readonly startedAt: Date;
  /** null while it is under way. */
  readonly outcome: string | null;
  readonly effectId: string | null;
  readonly code: string | null;
}

export interface ReceiptEvidence {
  readonly receiptId: string;
  readonly type: ReceiptType;
  readonly occurredAt: Date;
  readonly effectId: string | null;
}

export type ReceiptType =
  'accepted' | 'delivered' | 'deferred' | 'bounced' | 'complained' | 'rejected' | 'unsubscribed';

export interface JudgedOperation {
  readonly state: OperationState;
  readonly effectId: string | null;
  readonly doubled: boolean;
}

export interface Verdict {
  readonly state: OperationState;
  readonly effectId: string | null;
  /** null: it was known before, and the evidence only says more. */
  readonly resolvedBy: 'receipt' | 'late-result' | null;
  readonly doubled: boolean;
  readonly outcome: string;
  readonly code: string | null;
}

/** How far the clock of a provider may be behind ours before a receipt seems to be about an earlier call. */
const CLOCK_MARGIN_MS = 30_000;

/** What a receipt proves. A deferral, a bounce and a complaint prove that the provider had taken it. */
const PROVES: Readonly<Record<ReceiptType, OperationState>> = {
  accepted: 'accepted',
  deferred: 'accepted',
  delivered: 'delivered',
  unsubscribed: 'delivered',
  bounced: 'bounced',
  complained: 'complained',
  rejected: 'rejected',
};

const SEVERITY: Partial<Record<OperationState, number>> = { accepted: 1, delivered: 2, bounced: 3, complained: 4 };

const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['not-sent', 'throttled', 'rejected', 'suppressed', 'account']);

/** Another call may come, or would have come. */
const CALL_IS_OVER: ReadonlySet<OperationState> = new Set([
  'queued',
  'claimed',
  'awaiting-approval',
  'suppressed',
  'expired',
  'cancelled',
  'dead',
]);

/**
 * What attempts and receipts together prove of an operation, in whatever order they came. Pure; null: nothing new. An
 * operation that is being called right now is judged when its result is recorded.
 */
export function judgeEvidence(
  operation: JudgedOperation,
  all: readonly AttemptEvidence[],
  said: readonly ReceiptEvidence[],
): Verdict | null {
  const { attempts, receipts } = withoutTakenBack(operation, all, said);
  const known = judgeState(operation, attempts, receipts);
  const doubled = operation.doubled || (isSettled(known?.state ?? operation.state) && isDoubled(attempts, receipts));
  if (known) return { ...known, doubled };
  if (doubled === operation.doubled) return null;
  const { state, effectId } = operation;
  return { state, effectId, resolvedBy: null, doubled, outcome: 'doubled', code: null };
}

function judgeState(
  operation: JudgedOperation,
  attempts: readonly AttemptEvidence[],
  receipts: readonly ReceiptEvidence[],
): Omit<Verdict, 'doubled'> | null {
  switch (operation.state) {
    case 'unknown':
      return byReceipt(operation, receipts) ?? byResult(attempts) ?? byAbsence(attempts);
    case 'queued':
    case 'claimed':
    case 'awaiting-approval':
    case 'suppressed':
    case 'expired':
    case 'cancelled':
    case 'dead':
      // Somebody decided that it may be tried again, or it ended before that; evidence of the earlier call counts for more.
      return attempts.some(mayHaveEffect) ? (byReceipt(operation, receipts, true) ?? byResult(attempts)) : null;
    case 'accepted':
    case 'delivered':
    case 'bounced':
      return raised(operation, receipts);
    case 'rejected':
      // What the answer to the last call refused may hide what an earlier one did. What a receipt or a lookup refused was known.
      if (lastDelivery(attempts)?.outcome !== 'rejected' || !attempts.some(mayHaveEffect)) return null;
      return byReceipt(operation, receipts, true) ?? byResult(attempts);
    case 'calling':
    case 'complained':
      return null;
  }
}

/**
 * A provider that refuses by receipt what it had taken speaks of one call. Once that call is over, nothing that was said of
 * it counts for a later one, and it counts as refused itself: unless something says that it had its effect.
 */
function withoutTakenBack(
  { state }: JudgedOperation,
  attempts: readonly AttemptEvidence[],
  receipts: readonly ReceiptEvidence[],
): { readonly attempts: readonly AttemptEvidence[]; readonly receipts: readonly ReceiptEvidence[] } {
  const last = CALL_IS_OVER.has(state) ? undefined : lastDelivery(attempts);
  const spokenOf = new Map(receipts.map((receipt) => [receipt, callOf(attempts, receipt)]));
  const takenBack = new Set<AttemptEvidence>();
  for (const [{ type }, call] of spokenOf) if (type === 'rejected' && call && call !== last) takenBack.add(call);
  for (const [{ type }, call] of spokenOf) if (call && (SEVERITY[PROVES[type]] ?? 0) > 1) takenBack.delete(call);
  const isTakenBack = (call: AttemptEvidence | undefined): boolean => call !== undefined && takenBack.has(call);
  return {
    attempts: attempts.map((each) =>
      isTakenBack(deliveryOf(attempts, each)) ? { ...each, outcome: 'rejected' } : each,
    ),
    receipts: receipts.filter((receipt) => !isTakenBack(spokenOf.get(receipt))),
  };
}

/** The call that a receipt is about: by its effect, else the last one that had begun and whose effect may be this one. */
function callOf(attempts: readonly AttemptEvidence[], receipt: ReceiptEvidence): AttemptEvidence | undefined {
  const begun = ({ startedAt }: AttemptEvidence): boolean =>
    startedAt.getTime() <= receipt.occurredAt.getTime() + CLOCK_MARGIN_MS;
  const named = attempts.filter(({ effectId }) => sameEffect(effectId, receipt.effectId));
  const about =
    named.findLast(begun) ??
    named[0] ??
    attempts.findLast((each) => begun(each) && (each.effectId === null || receipt.effectId === null));
  return about && deliveryOf(attempts, about);
}

/** A replay repeats the call before it. */
function deliveryOf(attempts: readonly AttemptEvidence[], one: AttemptEvidence): AttemptEvidence | undefined {
  return lastDelivery(attempts.slice(0, attempts.indexOf(one) + 1));
}

function lastDelivery(attempts: readonly AttemptEvidence[]): AttemptEvidence | undefined {
  return attempts.findLast((attempt) => attempt.purpose === 'deliver');
}

function byReceipt(
  operation: JudgedOperation,
  receipts: readonly ReceiptEvidence[],
  effectsOnly = false,
): Omit<Verdict, 'doubled'> | null {
  const proofs = receipts.filter((receipt) => !(effectsOnly && receipt.type === 'rejected'));
  const strongest = strongestOf(proofs);
  if (!strongest) return null;
  const effectId = strongest.effectId ?? operation.effectId;
  const { receiptId: code, type: outcome } = strongest;
  return { state: PROVES[strongest.type], effectId, resolvedBy: 'receipt', outcome, code };
}

function byResult(attempts: readonly AttemptEvidence[]): Omit<Verdict, 'doubled'> | null {
  const accepted = attempts.find((attempt) => attempt.outcome === 'accepted');
  if (!accepted) return null;
  const { effectId, code } = accepted;
  return { state: 'accepted', effectId, resolvedBy: 'late-result', outcome: 'accepted', code };
}

/** Every call is now known to have had no effect: the last one says what that means. */
function byAbsence(attempts: readonly AttemptEvidence[]): Omit<Verdict, 'doubled'> | null {
  const last = lastDelivery(attempts);
  if (!last || attempts.some(mayHaveEffect)) return null;
  const outcome = last.outcome ?? '';
  const state = outcome === 'rejected' || outcome === 'suppressed' ? outcome : 'queued';
  return { state, effectId: null, resolvedBy: 'late-result', outcome, code: last.code };
}

function raised(operation: JudgedOperation, receipts: readonly ReceiptEvidence[]): Omit<Verdict, 'doubled'> | null {
  const strongest = strongestOf(receipts);
  if (!strongest) return null;
  const state = PROVES[strongest.type];
  const { receiptId: code, type: outcome } = strongest;
  const effectId = operation.effectId ?? strongest.effectId;
  const now = SEVERITY[operation.state] ?? 0;
  // A provider that takes and then refuses says so before it delivers anything.
  if (state === 'rejected' ? operation.state !== 'accepted' : (SEVERITY[state] ?? 0) <= now) return null;
  return { state, effectId, resolvedBy: null, outcome, code };
}

/** The most severe; `rejected` only where nothing says that there was an effect after all. */
function strongestOf(receipts: readonly ReceiptEvidence[]): ReceiptEvidence | undefined {
  const rank = ({ type }: ReceiptEvidence): number => SEVERITY[PROVES[type]] ?? (type === 'rejected' ? 1.5 : 0);
  return receipts.reduce<ReceiptEvidence | undefined>(
    (best, each) => (best === undefined || rank(each) > rank(best) ? each : best),
    undefined,
  );
}

function mayHaveEffect({ outcome }: AttemptEvidence): boolean {
  return outcome === null || !WITHOUT_EFFECT.has(outcome);
}

function isSettled(state: OperationState): boolean {
  return SEVERITY[state] !== undefined;
}

/**
 * Two effects are proven: by two accepted tries (a replay repeats no effect), or by a receipt of an effect that is not the
 * accepted one, where an earlier try was given up as not sent.
 */
function isDoubled(attempts: readonly AttemptEvidence[], receipts: readonly ReceiptEvidence[]): boolean {
  const tries = attempts.filter((attempt) => attempt.purpose === 'deliver' && mayHaveEffect(attempt));
  const [first] = tries;
  const accepted = tries.filter((attempt) => attempt.outcome === 'accepted');
  const last = accepted.at(-1);
  if (!first || !last || first === last) return false;
  if (accepted.length > 1 && !sameEffect(accepted[0]?.effectId, last.effectId)) return true;
  return receipts.some((receipt) =>
    receipt.effectId !== null && last.effectId !== null
      ? !accepted.some((attempt) => sameEffect(attempt.effectId, receipt.effectId))
      : receipt.occurredAt.getTime() < last.startedAt.getTime() - CLOCK_MARGIN_MS,
  );
}

/** Providers name an effect with and without brackets, and some add the part of the recipient after a dot. */
function sameEffect(one: string | null | undefined, other: string | null | undefined): boolean {
  if (!one || !other) return false;
  const [a, b] = [one, other].map((id) => id.replace(/^<|>$/g, ''));
  return a === b || `${a}`.startsWith(`${b}.`) || `${b}`.startsWith(`${a}.`);
}
