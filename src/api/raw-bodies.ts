import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ProblemException } from './problem.ts';

/** Of a request's body. */
const MAX_BODY_BYTES = 1024 * 1024;
/** What is still taken off the wire of a body that is too large, so that its sender gets to read the answer. */
const MAX_DRAINED_BYTES = 8 * MAX_BODY_BYTES;

const bodies = new WeakMap<object, Buffer>();

/** The bytes of a request's body; null when it has none. */
export function bodyOf(request: object): Buffer | null {
  return bodies.get(request) ?? null;
}

/**
 * Takes the bodies of API requests as bytes, before any other parser can: a parser that follows finds nothing left to read.
 * It has to be made before the application is initialised, as Nest does with providers.
 */
@Injectable()
export class RawBodies {
  constructor({ httpAdapter }: HttpAdapterHost) {
    httpAdapter.use('/v1', takeBody);
  }
}

type Next = (error?: unknown) => void;

function takeBody(request: IncomingMessage, response: ServerResponse, next: Next): void {
  if (!hasBody(request)) {
    next();
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const refuse = (): void => {
    next(new ProblemException(413, `the body is larger than ${MAX_BODY_BYTES} bytes`));
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (bytes <= MAX_DRAINED_BYTES) return;
    request.removeAllListeners('data').removeAllListeners('end').pause();
    response.setHeader('connection', 'close');
    refuse();
  });
  request.on('end', () => {
    if (bytes > MAX_BODY_BYTES) {
      refuse();
      return;
    }
    bodies.set(request, Buffer.concat(chunks));
    next();
  });
  // Whoever went away waits for no answer.
  request.on('error', () => undefined);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
