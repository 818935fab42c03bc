import { createParamDecorator, NotFoundException, type ExecutionContext } from '@nestjs/common';
import type { z } from 'zod';
import { formatPath } from '../config/config-error.ts';
import { errorsOfIssues } from '../config/schema-issues.ts';
import { isJson } from '../messaging/envelope/media-type.ts';
import { parseJson } from '../messaging/envelope/parse-json.ts';
import { invalidRequest, ProblemException } from './problem.ts';
import { bodyOf } from './raw-bodies.ts';

/** Deeper than any body that is asked for, so that the depth is what is told of one that is too deep. */
const MAX_DEPTH = 16;
/** More would only make an answer long. */
const MAX_ERRORS = 20;
const MAX_FIELD_LENGTH = 200;
/** As in the contracts. */
const MAX_KEY_LENGTH = 512;

export interface ReadRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query?: object;
}

/** A function, since Nest would take a schema for something of its own. */
type Read = (value: unknown) => unknown;

/** The request's body as strict JSON. @throws ProblemException 415 or 400 */
export function jsonOf(request: ReadRequest, maxDepth = MAX_DEPTH): unknown {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (typeof type !== 'string' || !isJson(type) || (encoding !== undefined && encoding !== 'identity')) {
    throw new ProblemException(415, 'the body must be application/json in UTF-8, not compressed');
  }
  const parsed = parseJson(bodyOf(request) ?? Buffer.alloc(0), maxDepth);
  if (!parsed.ok) throw invalidRequest([{ field: '', rule: parsed.detail }]);
  return parsed.value;
}

const jsonBody = createParamDecorator((read: Read, context: ExecutionContext): unknown =>
  read(jsonOf(context.switchToHttp().getRequest<ReadRequest>())),
);

const filters = createParamDecorator((read: Read, context: ExecutionContext): unknown =>
  read({ ...context.switchToHttp().getRequest<ReadRequest>().query }),
);

/** The body as the schema describes it; a problem that names each field and rule otherwise. */
export function JsonBody(schema: z.ZodType): ParameterDecorator {
  return jsonBody((value: unknown) => bySchema(schema, value));
}

/** The part after the question mark. A name that is not known is refused: a misspelt filter would show too much. */
export function Filters(schema: z.ZodType): ParameterDecorator {
  return filters((value: unknown) => bySchema(schema, value));
}

function bySchema(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = errorsOfIssues(parsed.error.issues.slice(0, MAX_ERRORS), value, []).slice(0, MAX_ERRORS);
  throw invalidRequest(
    errors.map(({ path, message, nearest }) => ({
      field: formatPath(path).slice(0, MAX_FIELD_LENGTH).toWellFormed(),
      rule: nearest ? `${message} (did you mean ${nearest}?)` : message,
    })),
  );
}

/** PostgreSQL cannot compare with what it cannot store; nothing is stored under such an id. */
export function storable(text: string): string {
  if (text.includes('\0') || !text.isWellFormed())
    throw new NotFoundException('nothing is stored under an id with U+0000 or a lone surrogate');
  return text;
}

/** The operation key of a path. Nothing is stored under one that is too long. */
export function operationKeyOf(text: string): string {
  if (text.length > MAX_KEY_LENGTH) throw noOperation();
  return storable(text);
}

export function noOperation(): NotFoundException {
  return new NotFoundException('no operation with this key');
}
