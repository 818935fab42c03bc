import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { classifyDatabaseError } from '../database/postgres-errors.ts';
import type { Logger } from '../observability/logger.ts';
import { errorCode } from '../runtime/service-error.ts';
import { ProblemException } from './problem.ts';

interface HttpResponse {
  status(code: number): HttpResponse;
  type(contentType: string): HttpResponse;
  setHeader(name: string, value: string): void;
  send(body: string): void;
  readonly headersSent: boolean;
}

/** Every error of the HTTP side as a problem document (RFC 9457). What went wrong inside stays inside. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<HttpResponse>();
    if (response.headersSent) return;
    const status = statusOf(error);
    if (status >= 500) this.logger.error('http.failed', { code: errorCode(error), error });
    const { members, headers } = error instanceof ProblemException ? error : { members: {}, headers: {} };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const problem = {
      type: 'about:blank',
      title: titleOf(status),
      status,
      detail: detailOf(error, status),
      ...members,
    };
    response.status(status).type('application/problem+json').send(JSON.stringify(problem));
  }
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  // It cures itself, so the client may ask again.
  return classifyDatabaseError(error) === 'away' ? 503 : 500;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

function titleOf(status: number): string {
  return TITLES[status] ?? (status >= 500 ? 'Internal Server Error' : 'Request Refused');
}

function detailOf(error: unknown, status: number): string {
  if (error instanceof HttpException && (status < 500 || status === 503)) return error.message;
  if (status === 503) return 'The database is away; ask again later.';
  return status >= 500 ? 'The request could not be answered; the log has the reason.' : titleOf(status);
}
