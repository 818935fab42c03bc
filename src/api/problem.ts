import { HttpException } from '@nestjs/common';
import { PROBLEM_TYPES, problemType, type ProblemName } from './problem-types.ts';

/** What is wrong with one member of a request; `field` is empty for the request as a whole. */
export interface FieldProblem {
  readonly field: string;
  readonly rule: string;
}

/** An answer that is a problem document (RFC 9457) with members of its own. */
export class ProblemException extends HttpException {
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string,
    members: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail, status);
    this.members = members;
    this.headers = headers;
  }
}

/** A problem of this name, with its status, type and title. */
export function namedProblem(
  name: ProblemName,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): ProblemException {
  const { status, title } = PROBLEM_TYPES[name];
  return new ProblemException(status, detail, { type: problemType(name), title, ...members }, headers);
}

/** 400: the request breaks these rules. */
export function invalidRequest(errors: readonly FieldProblem[]): ProblemException {
  return new ProblemException(400, inWords(errors), { errors });
}

export function inWords(errors: readonly FieldProblem[]): string {
  const [first] = errors;
  const words = first ? `${first.field} ${first.rule}`.trim() : 'the request is not as described';
  return errors.length > 1 ? `${words}; ${errors.length - 1} more` : words;
}
