import { Controller, Get, Header, HttpStatus, Res } from '@nestjs/common';
import { Backlog } from './backlog.ts';
import { ProcessHealth, type Verdict } from './process-health.ts';
import { ProcessMetrics } from './process-metrics.ts';

interface HttpResponse {
  status(code: number): HttpResponse;
  json(body: unknown): void;
}

@Controller()
export class HealthController {
  constructor(
    private readonly health: ProcessHealth,
    private readonly backlog: Backlog,
    private readonly metrics: ProcessMetrics,
  ) {}

  @Get('health/startup')
  async startup(@Res() response: HttpResponse): Promise<void> {
    answer(response, await this.health.startup());
  }

  @Get('health/live')
  live(@Res() response: HttpResponse): void {
    answer(response, this.health.live());
  }

  @Get('health/ready')
  async ready(@Res() response: HttpResponse): Promise<void> {
    answer(response, await this.health.ready());
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  async scrape(): Promise<string> {
    // A database that is away takes only its own gauges out of the answer.
    await this.backlog.refresh().catch(() => undefined);
    return await this.metrics.text();
  }
}

function answer(response: HttpResponse, verdict: Verdict): void {
  response
    .status(verdict.ok ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE)
    .json({ status: verdict.status, ...verdict.details });
}
