import { hashText } from '../operations/operation-events.ts';
import type { AskedOperation, RequestAnswer } from '../operations/request-operations/request-answer.ts';
import type { ShownCheckpoint } from '../operations/steps/list-checkpoints.ts';
import type { AskedItem } from './asked-operations.ts';
import { inWords } from './problem.ts';
import { PROBLEM_TYPES, problemType, type ProblemName } from './problem-types.ts';
import type { AnsweredRequest } from './request-desk.ts';

/** What is told of one request: alone in the body of an answer, or as an entry of the answer to many. */
export interface ShownAnswer {
  /** As HTTP answers it: of the whole answer when it was one request. */
  readonly status: number;
  readonly outcome: 'queued' | 'duplicated' | 'invalid' | ProblemName;
  readonly body: Readonly<Record<string, unknown>>;
  /** In words; null when it is no problem. */
  readonly detail: string | null;
  readonly problem: ProblemName | null;
}

export function shownAnswer({ answer, checkpoints }: AnsweredRequest): ShownAnswer {
  const problem = problemOf(answer);
  const body = { ...operationBody(answer.operation), ...conflictBody(answer), ...resultBody(checkpoints) };
  if (problem === null) {
    const isNew = answer.kind === 'queued';
    return {
      status: isNew ? 202 : 200,
      outcome: isNew ? 'queued' : 'duplicated',
      body,
      detail: null,
      problem,
    };
  }
  return { status: PROBLEM_TYPES[problem].status, outcome: problem, body, detail: detailOf(problem, answer), problem };
}

export function shownInvalid({ operationKey, errors }: Extract<AskedItem, { ok: false }>): ShownAnswer {
  return { status: 400, outcome: 'invalid', body: { operationKey, errors }, detail: inWords(errors), problem: null };
}

/** An entry of the answer to many. */
export function entryOf({ status, outcome, body, detail, problem }: ShownAnswer): Readonly<Record<string, unknown>> {
  const told = problem === null ? {} : { type: problemType(problem) };
  const { operationKey, ...rest } = body;
  return { operationKey, outcome, status, ...told, ...(detail === null ? {} : { detail }), ...rest };
}

/** What was refused when it arrived is refused again in the same way, so that a repeated call never looks like a success. */
function problemOf(answer: RequestAnswer): ProblemName | null {
  switch (answer.kind) {
    case 'queued':
      return null;
    case 'rejected':
    case 'expired':
    case 'cancelled':
    case 'conflicted':
      return answer.kind;
    case 'too-old':
      return 'too-old-to-deduplicate';
    case 'duplicated':
      return answer.refusedAtArrival ? refusedAs(answer.operation) : null;
  }
}

function refusedAs({ state }: AskedOperation): ProblemName | null {
  return state === 'rejected' || state === 'expired' || state === 'cancelled' ? state : null;
}

function detailOf(problem: ProblemName, { operation }: RequestAnswer): string {
  return problem === 'conflicted'
    ? 'the key belongs to an operation with another payload'
    : (operation.reason ?? PROBLEM_TYPES[problem].title);
}

function operationBody(operation: AskedOperation): Record<string, unknown> {
  const { operationKey, operationId, state, payloadHash, attempts, effectId, reason, firstSeenAt } = operation;
  return {
    operationKey,
    operationId,
    state,
    payloadHash: hashText(payloadHash),
    attempts,
    effectId,
    reason,
    ...(firstSeenAt ? { firstSeenAt } : {}),
  };
}

function conflictBody(answer: RequestAnswer): Record<string, unknown> {
  return answer.kind === 'conflicted' ? { refusedPayloadHash: hashText(answer.refused) } : {};
}

/** What a call has answered, of each step by its name. */
export function resultBody(checkpoints: readonly ShownCheckpoint[]): Record<string, unknown> {
  const single = checkpoints.find(({ name }) => name === null);
  const steps = checkpoints.flatMap(({ name, result, effect_id: effectId }) =>
    name === null ? [] : [[name, { result, effectId }] as const],
  );
  return {
    ...(single ? { result: single.result } : {}),
    ...(steps.length > 0 ? { results: Object.fromEntries(steps) } : {}),
  };
}
