import { HttpException } from '@nestjs/common';

/** What is wrong with one member of a request; `field` is empty for the request as a whole. */
export interface FieldProblem {
  readonly field: string;
  readonly rule: string;
}

/** An answer that is a problem document (RFC 9457) with members of its own. */
export class ProblemException extends HttpException {
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, detail: string, members: Readonly<Record<string, unknown>> = {}) {
    super(detail, status);
    this.members = members;
  }
}

/** 400: the request breaks these rules. */
export function invalidRequest(errors: readonly FieldProblem[]): ProblemException {
  const [first] = errors;
  const words = first ? `${first.field} ${first.rule}`.trim() : 'the request is not as described';
  const more = errors.length > 1 ? `; ${errors.length - 1} more` : '';
  return new ProblemException(400, `${words}${more}`, { errors });
}
