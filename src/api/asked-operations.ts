import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { operationKey } from '../messaging/contracts/fields.ts';
import { contractOf, validate } from '../messaging/contracts/registry.ts';
import type { Problem } from '../messaging/contracts/validate.ts';
import { DEFAULT_ENVELOPE_LIMITS } from '../messaging/envelope.ts';
import type { OperationRequest } from '../operations/request-operations/plan-operation.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { invalidRequest, type FieldProblem } from './problem.ts';
import { jsonOf, type ReadRequest } from './read-request.ts';
import { MAX_ASKED } from './schemas/decisions.schema.ts';

/** One operation of a request, as the contract of `einmal.operation.requested.v1` describes it, or what is wrong with it. */
export type AskedItem =
  | { readonly ok: true; readonly data: OperationRequest }
  /** `operationKey`: null when there is none that can be repeated. */
  | { readonly ok: false; readonly operationKey: string | null; readonly errors: readonly FieldProblem[] };

export type Asked =
  | { readonly kind: 'one'; readonly data: OperationRequest }
  | { readonly kind: 'many'; readonly items: readonly AskedItem[] };

/** Two levels more than a record may have, for the list around the operations. */
const MAX_DEPTH = DEFAULT_ENVELOPE_LIMITS.maxDepth + 2;
const HEADER = 'Idempotency-Key';

const contract = contractOf('einmal.operation.requested.v1');

/** The operations that a request asks for. @throws ProblemException 400 or 415 when it asks for none that could be understood */
export const AskedOperations = createParamDecorator((_: unknown, context: ExecutionContext): Asked => {
  const request = context.switchToHttp().getRequest<ReadRequest>();
  return askedOf(jsonOf(request, MAX_DEPTH), request.headers['idempotency-key']);
});

/** Pure. `header`: the value of `Idempotency-Key`. */
export function askedOf(body: unknown, header: string | readonly string[] | undefined): Asked {
  if (!isObject(body)) throw invalidRequest([{ field: '', rule: 'must be an object' }]);
  return Object.hasOwn(body, 'operations') ? manyOf(body, header) : { kind: 'one', data: oneOf(body, header) };
}

function manyOf(body: object, header: unknown): Asked {
  const { operations, ...others }: { operations?: unknown } = body;
  const errors: FieldProblem[] = Object.keys(others).map(() => ({
    field: '',
    rule: 'must have no member beside operations',
  }));
  if (header !== undefined) errors.push({ field: HEADER, rule: 'is for one operation; each of many has its own key' });
  if (!Array.isArray(operations)) errors.push({ field: 'operations', rule: 'must be a list' });
  else if (operations.length < 1 || operations.length > MAX_ASKED)
    errors.push({ field: 'operations', rule: `must have 1 to ${MAX_ASKED} entries` });
  if (errors.length > 0 || !Array.isArray(operations)) throw invalidRequest(errors.slice(0, 2));
  return { kind: 'many', items: operations.map(itemOf) };
}

function itemOf(value: unknown): AskedItem {
  const checked = validate(contract, value);
  if (checked.ok) return { ok: true, data: checked.data };
  const key = isObject(value) && 'operationKey' in value ? operationKey.safeParse(value.operationKey) : null;
  return { ok: false, operationKey: key?.success ? key.data : null, errors: checked.problems.map(fieldProblem) };
}

function oneOf(body: object, header: string | readonly string[] | undefined): OperationRequest {
  const checked = validate(contract, { ...body, operationKey: keyOf(body, header) });
  if (!checked.ok) throw invalidRequest(checked.problems.map(fieldProblem));
  return checked.data;
}

/** By the header or by the body; when both are there they must be the same. */
function keyOf(body: object, header: string | readonly string[] | undefined): unknown {
  const inBody = 'operationKey' in body ? body.operationKey : undefined;
  if (header === undefined) {
    if (inBody === undefined) throw invalidRequest([{ field: HEADER, rule: 'is required' }]);
    return inBody;
  }
  const read =
    typeof header === 'string' ? readIdempotencyKey(header) : { ok: false as const, rule: 'must be there once' };
  if (!read.ok) throw invalidRequest([{ field: HEADER, rule: read.rule }]);
  if (!operationKey.safeParse(read.key).success)
    throw invalidRequest([{ field: HEADER, rule: 'must have 1 to 512 characters, and no U+0000' }]);
  if (inBody !== undefined && inBody !== read.key)
    throw invalidRequest([{ field: 'operationKey', rule: `must be the same as ${HEADER}` }]);
  return read.key;
}

function fieldProblem({ path, rule }: Problem): FieldProblem {
  return { field: path, rule };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
