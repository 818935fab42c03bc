import type { OperationState } from '../../../src/operations/operation.states.ts';
import { flawsOfTelling, type ToldEvent } from './told.ts';

/** One operation when nobody has anything to do any more: what the sink counted, and what the ledger says. */
export interface Case {
  readonly name: string;
  /** Counted outside. */
  readonly effects: number;
  /** Different requests that reached the provider for it. */
  readonly variants: number;
  readonly state: OperationState;
  readonly held: boolean;
  readonly resolvedBy: string | null;
  readonly doubled: boolean;
  readonly attempts: readonly CaseAttempt[];
  readonly steps: readonly CaseStep[];
  readonly receipts: readonly CaseReceipt[];
  /** In the order of the outbox. */
  readonly told: readonly ToldEvent[];
}

export interface CaseAttempt {
  readonly purpose: 'deliver' | 'replay';
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly outcome: string | null;
  readonly effectId: string | null;
}

export interface CaseReceipt {
  readonly type: string;
  readonly receivedAt: Date;
}

export interface CaseStep {
  readonly step: string;
  readonly outcome: string;
  readonly at: Date;
}

const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['not-sent', 'throttled', 'rejected', 'suppressed', 'account']);
const WITH_EFFECT: ReadonlySet<OperationState> = new Set(['accepted', 'delivered', 'bounced', 'complained']);

const FAILED: ReadonlySet<OperationState> = new Set([
  'suppressed',
  'expired',
  'cancelled',
  'dead',
  'awaiting-approval',
]);

/**
 * What is wrong, in words; empty when the promise is kept: one effect, or the ledger says that it does not know.
 *
 * @param timesAreExact false where a transaction hung between its begin, whose time its rows carry, and what it wrote
 */
export function flawsOf(judged: Case, timesAreExact = true): string[] {
  return [
    ...flawsOfEffects(judged),
    ...flawsOfState(judged),
    ...flawsOfEvidence(judged),
    ...(timesAreExact ? flawsOfOrder(judged) : []),
    ...flawsOfTelling(judged.state, judged.told),
  ].map((flaw) => `${judged.name}: ${flaw}`);
}

function flawsOfEffects({ effects, variants, attempts, steps, doubled }: Case): string[] {
  const flaws: string[] = [];
  const allowed = 1 + steps.filter((step) => allowsAnother(step, attempts)).length;
  if (effects > allowed) flaws.push(`${effects} effects, and the ledger explains ${allowed}`);
  if (variants > 1) flaws.push(`${variants} different requests for one operation`);
  const proven = new Set(
    attempts
      .filter(({ purpose, outcome }) => purpose === 'deliver' && outcome === 'accepted')
      .map(({ effectId }) => effectId),
  );
  if (proven.size > 1 && !doubled) flaws.push('two calls were accepted, and it is not said to be doubled');
  if (doubled && effects < 2) flaws.push(`said to be doubled with ${effects} effects`);
  return flaws;
}

/** Somebody decided to send again, while an earlier call may have had its effect: by all that became known since. */
function allowsAnother(step: CaseStep, attempts: readonly CaseAttempt[]): boolean {
  return isResend(step) && attempts.some((tried) => tried.startedAt <= step.at && mayHaveEffect(tried));
}

function isResend({ step, outcome }: CaseStep): boolean {
  return (step === 'policy' && outcome === 'resend') || (step === 'person' && outcome === 'not-sent');
}

function flawsOfState(judged: Case): string[] {
  const { effects, state, held, attempts, steps } = judged;
  const flaws: string[] = [];
  if (held) flaws.push(`${state}, and somebody still holds it`);
  switch (state) {
    case 'accepted':
    case 'delivered':
    case 'bounced':
    case 'complained':
      if (effects === 0 && !steps.some(isBelief)) flaws.push(`${state} without an effect`);
      break;
    case 'unknown':
      break;
    case 'suppressed':
    case 'rejected':
    case 'expired':
    case 'cancelled':
    case 'dead':
    case 'awaiting-approval':
      // After a decision to send again the first effect may be there: the decision is the evidence.
      if (effects > 0 && !steps.some((step) => allowsAnother(step, attempts))) flaws.push(`${state} with an effect`);
      break;
    case 'queued':
    case 'claimed':
    case 'calling':
      flaws.push(`left ${state}`);
  }
  return flaws;
}

/** Somebody said so, and nobody saw it. */
function isBelief({ step, outcome }: CaseStep): boolean {
  return (
    (step === 'policy' && outcome === 'assume-sent') || (step === 'person' && outcome === 'sent') || step === 'receipt'
  );
}

function flawsOfEvidence({ state, resolvedBy, attempts, steps, receipts }: Case): string[] {
  const flaws: string[] = [];
  const open = attempts.filter(({ outcome }) => outcome === null);
  if (open.length > 0) flaws.push(`${open.length} attempts have no outcome`);
  const accepted = attempts.some(({ outcome }) => outcome === 'accepted');
  if (state === 'unknown') {
    if (!attempts.some(mayHaveEffect)) flaws.push('unknown, and no attempt may have had an effect');
    if (accepted) flaws.push('unknown, and an attempt was accepted');
    if (receipts.length > 0) flaws.push('unknown, and there is a receipt');
  }
  if (FAILED.has(state) && accepted) flaws.push(`${state}, and an attempt was accepted`);
  const seen = accepted || receipts.length > 0 || steps.some((step) => isBelief(step) || step.outcome === 'hit');
  if (WITH_EFFECT.has(state) && !seen) flaws.push(`${state} without evidence`);
  if (resolvedBy !== null && !steps.some(({ step }) => step === resolvedBy)) {
    flaws.push(`resolved by ${resolvedBy}, of which there is no evidence`);
  }
  return flaws;
}

/** What was done although it was known by then that there was an effect. */
function flawsOfOrder({ attempts, steps, receipts }: Case): string[] {
  const flaws: string[] = [];
  if (attempts.some((late) => attempts.some((known) => isKnownBefore(known, late)))) {
    flaws.push('called again when it was known that a call had been accepted');
  }
  if (steps.some((step) => isResend(step) && receipts.some(({ receivedAt }) => receivedAt < step.at))) {
    flaws.push('to be sent again, when there was a receipt');
  }
  return flaws;
}

function isKnownBefore(known: CaseAttempt, late: CaseAttempt): boolean {
  return known.outcome === 'accepted' && known.endedAt !== null && known.endedAt < late.startedAt;
}

function mayHaveEffect({ outcome }: CaseAttempt): boolean {
  return outcome === null || !WITHOUT_EFFECT.has(outcome);
}
