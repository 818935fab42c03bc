import { Controller, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { traceOf } from '../messaging/envelope/attributes.ts';
import { AskedOperations, type Asked, type AskedItem } from './asked-operations.ts';
import { namedProblem } from './problem.ts';
import { entryOf, shownAnswer, shownInvalid, type ShownAnswer } from './request-answers.ts';
import { OperationDesk, type RequestOrigin } from './request-desk.ts';
import { RequestId } from './request-id.ts';
import { NeedsScope, TenantId, TenantTokenGuard } from './tenant-token.guard.ts';

interface Answering {
  status(code: number): unknown;
  setHeader(name: string, value: string): void;
}

interface Headers {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

@Controller('v1/operations')
@UseGuards(TenantTokenGuard)
export class OperationRequestsController {
  constructor(private readonly desk: OperationDesk) {}

  /**
   * Asks for one operation (202 when it is new, 200 when the same was asked for before) or for many (200, with one entry for
   * each, in order).
   */
  @Post()
  @HttpCode(200)
  @NeedsScope('request')
  async ask(
    @TenantId() tenantId: string,
    @RequestId() requestId: string,
    @AskedOperations() asked: Asked,
    @Req() { headers }: Headers,
    @Res({ passthrough: true }) response: Answering,
  ) {
    const { traceparent } = traceOf((name) => headers[name]);
    const origin = { tenantId, requestId, ...(traceparent === undefined ? {} : { traceparent }) };
    if (asked.kind === 'many') return { items: (await this.#askMany(origin, asked.items)).map(entryOf) };
    const [answered] = await this.desk.ask(origin, [asked.data]);
    if (!answered) throw new TypeError('one request has one answer');
    const { status, body, detail, problem } = shownAnswer(answered);
    if (problem !== null) throw namedProblem(problem, detail ?? '', body);
    response.status(status);
    response.setHeader('location', `/v1/operations/by-id/${answered.answer.operation.operationId}`);
    return body;
  }

  /** What is wrong with one does not keep the others from being asked for. */
  async #askMany(origin: RequestOrigin, items: readonly AskedItem[]): Promise<ShownAnswer[]> {
    const answered = await this.desk.ask(
      origin,
      items.flatMap((item) => (item.ok ? [item.data] : [])),
    );
    return items.map((item) => {
      if (!item.ok) return shownInvalid(item);
      const answer = answered.shift();
      if (!answer) throw new TypeError('each request has an answer');
      return shownAnswer(answer);
    });
  }
}
