import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParamDecorator, Injectable, type ExecutionContext } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** What others may search for in their logs: no blanks, and nothing that a log or a header could trip over. */
const SANE = /^[\w.:/+=~-]{1,128}$/;

const ids = new WeakMap<object, string>();

/** Names each API request: by its `X-Request-Id` when that is sane, else anew. Every answer carries it, refusals too. */
@Injectable()
export class RequestIds {
  constructor({ httpAdapter }: HttpAdapterHost) {
    httpAdapter.use('/v1', nameRequest);
  }
}

function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && SANE.test(given) ? given : randomUUID();
  ids.set(request, id);
  response.setHeader('x-request-id', id);
  next();
}

/** The request's id, which is the causation id of what follows from it. */
export const RequestId = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  return ids.get(context.switchToHttp().getRequest<object>()) ?? randomUUID();
});
