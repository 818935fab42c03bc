import type { NewEvidence, SettledAs, StillUnknown } from '../../operations/settle-unknowns/settle-unknowns.ts';
import type { CallOutcome } from '../../providers/provider.port.ts';
import { checkpointOf } from '../checkpoint-of.ts';
import { storableResult } from '../storable-result.ts';
import type { UnknownOperation } from './claim-unknowns.ts';
import type { ReplayIntent } from './commit-replays.ts';
import type { LookedUp } from './look-up.ts';
import type { ResolutionStep } from './plan-resolution.ts';
import type { ResolutionResult } from './record-resolutions.ts';

const LOOK_AGAIN: StillUnknown = { state: 'unknown', lookAt: 'now', reason: null };

/** Nothing was tried; later. */
export function postponed(operation: UnknownOperation, until: Date | 'now'): ResolutionResult {
  return result(operation, { state: 'unknown', lookAt: until, reason: null }, null);
}

/** The policy decides, or a person has to. */
export function closed(
  operation: UnknownOperation,
  step: Extract<ResolutionStep, { do: 'hold' | 'resend' | 'assume-sent' }>,
): ResolutionResult {
  const { do: outcome, reason } = step;
  const evidence: NewEvidence = { step: 'policy', outcome, code: null, diagnostic: reason };
  switch (outcome) {
    case 'hold':
      return result(operation, { state: 'unknown', lookAt: 'never', reason: `held: ${reason}` }, evidence);
    case 'resend':
      return result(operation, byPolicy('queued', outcome, reason), evidence);
    case 'assume-sent':
      return result(operation, byPolicy('accepted', outcome, reason), evidence);
  }
}

/** The key was not used. A lost claim writes nothing anyway. */
export function notReplayed(
  operation: UnknownOperation,
  outcome: Exclude<ReplayIntent, 'committed'>,
  diagnostic: string | null,
): ResolutionResult {
  return result(operation, LOOK_AGAIN, { step: 'replay', outcome, code: null, diagnostic });
}

/**
 * Only an acceptance resolves: it is the first answer again, or the first effect. Whatever else is said to the key now says
 * nothing of the call before, which may have been accepted.
 */
export function afterReplay(operation: UnknownOperation, outcome: CallOutcome): ResolutionResult {
  const { kind, code, diagnostic } = outcome;
  const evidence: NewEvidence = { step: 'replay', outcome: kind, code, diagnostic };
  if (kind !== 'accepted') return result(operation, LOOK_AGAIN, evidence, outcome);
  const next: SettledAs = {
    state: 'accepted',
    resolvedBy: 'replay',
    reason: 'replay: the provider answered to the same key',
    effectId: outcome.effectId,
  };
  return result(operation, next, evidence, outcome);
}

export function afterLookup(operation: UnknownOperation, { outcome, sawCanary }: LookedUp): ResolutionResult {
  const { code, diagnostic } = storableResult({ ...outcome, kind: 'not-sent' });
  const said = { code, diagnostic };
  if (outcome.kind === 'hit') {
    const { state, effectId } = outcome;
    const next: SettledAs = { state, resolvedBy: 'lookup', reason: `lookup: ${state}`, effectId };
    return result(operation, next, { step: 'lookup', outcome: 'hit', ...said });
  }
  const found = outcome.kind === 'miss' && sawCanary ? 'miss-with-canary' : outcome.kind;
  return result(operation, LOOK_AGAIN, { step: 'lookup', outcome: found, ...said });
}

function byPolicy(state: 'queued' | 'accepted', policy: 'resend' | 'assume-sent', reason: string): SettledAs {
  return { state, resolvedBy: 'policy', reason, effectId: null, policy };
}

function result(
  operation: UnknownOperation,
  next: SettledAs | StillUnknown,
  evidence: NewEvidence | null,
  replayed: CallOutcome | null = null,
): ResolutionResult {
  const { tenant_id: tenantId, operation_id: operationId, claim_seq: claimNumber } = operation;
  const checkpoints = replayed === null ? [] : checkpointOf(operation, replayed, null);
  return { settlement: { tenantId, operationId, claimNumber, next, evidence }, replayed, checkpoints };
}
