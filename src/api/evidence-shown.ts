import type { StepRow, TryRow } from '../operations/unknowns/read-histories.ts';

/** Steps to find out, as people are shown them. */
export function shownSteps(steps: readonly StepRow[]) {
  return steps.map(({ at, step, outcome, code, diagnostic, decided_by: decidedBy }) => ({
    at,
    step,
    outcome,
    code,
    diagnostic,
    decidedBy,
  }));
}

export function shownAttempts(tries: readonly TryRow[]) {
  return tries.map((each) => ({
    attemptId: `${each.operation_id}.${each.claim_seq}`,
    claimNumber: Number(each.claim_seq),
    purpose: each.purpose,
    provider: each.provider,
    startedAt: each.started_at,
    endedAt: each.ended_at,
    outcome: each.outcome,
    code: each.code,
    diagnostic: each.diagnostic,
    effectId: each.effect_id,
  }));
}
