import { FINAL_STATES, mayFollow, type OperationState } from '../../../src/operations/operation.states.ts';

/** One event about an operation, as a peer reads it. */
export interface ToldEvent {
  /** `accepted` of `einmal.operation.accepted.v1`. */
  readonly type: string;
  readonly state: OperationState;
  readonly needsPerson: boolean;
  readonly doubled: boolean;
}

/** Answers to requests, which tell nothing new. */
const ANSWERS: ReadonlySet<string> = new Set(['queued', 'duplicated', 'conflicted']);

/**
 * What is wrong with what peers are told of one operation: each state once, in an order that can be, the last one true.
 */
export function flawsOfTelling(state: OperationState, events: readonly ToldEvent[]): string[] {
  const told = events.filter(({ type }) => !ANSWERS.has(type));
  const flaws = told.flatMap((event, index) => flawsOfStep(told[index - 1] ?? null, event));
  const last = told.at(-1)?.state ?? null;
  const mustBeTold = state === 'unknown' || FINAL_STATES.includes(state);
  if (mustBeTold && last !== state) flaws.push(`${state}, and the last event says ${last ?? 'nothing'}`);
  if (!mustBeTold && last !== null && last !== 'queued') flaws.push(`${state}, and the last event says ${last}`);
  return flaws;
}

function flawsOfStep(before: ToldEvent | null, { type, state, needsPerson, doubled }: ToldEvent): string[] {
  const from = before?.state ?? null;
  if (state === 'unknown') {
    if (needsPerson) return from === 'unknown' ? [] : [`a person is asked after ${from ?? 'nothing'}`];
    return from === null || from === 'queued' ? [] : [`unknown was told after ${from}`];
  }
  if (type === 'resolved' && doubled && from === state) return [];
  // Whoever resolves to what a provider reports tells both: that it is known, and what it is.
  if (from === state) return before?.type === 'resolved' && type === state ? [] : [`${state} was told twice`];
  if (type === 'resolved' && from === null) return [`resolved after nothing`];
  if (type !== 'resolved' && from === 'unknown')
    return [`${state} was told of an unknown one, and not that it is resolved`];
  if (from === null || from === 'queued' || mayFollow(from, state)) return [];
  return [`${state} was told after ${from}`];
}
