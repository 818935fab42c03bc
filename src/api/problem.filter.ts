import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from '../observability/logger.ts';
import { errorCode } from '../runtime/service-error.ts';

interface HttpResponse {
  status(code: number): HttpResponse;
  type(contentType: string): HttpResponse;
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
    const status = error instanceof HttpException ? error.getStatus() : 500;
    if (status >= 500) this.logger.error('http.failed', { code: errorCode(error), error });
    response
      .status(status)
      .type('application/problem+json')
      .send(JSON.stringify({ type: 'about:blank', title: titleOf(status), status, detail: detailOf(error, status) }));
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  503: 'Service Unavailable',
};

function titleOf(status: number): string {
  return TITLES[status] ?? (status >= 500 ? 'Internal Server Error' : 'Request Refused');
}

function detailOf(error: unknown, status: number): string {
  if (status >= 500 && status !== 503) return 'The request could not be answered; the log has the reason.';
  return error instanceof HttpException ? error.message : titleOf(status);
}
