import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.ts';
import { ProblemFilter } from './api/problem.filter.ts';
import { CampaignEntity } from './campaigns/campaign.entity.ts';
import { formatConfigErrors } from './config/config-error.ts';
import { readEnvironment } from './config/env.ts';
import { loadConfig } from './config/load-config.ts';
import type { EinmalConfig } from './config/einmal-config.ts';
import { createDataSource } from './database/data-source.ts';
import { openDatabase } from './database/open-database.ts';
import { ProcessHealth } from './health/process-health.ts';
import { KafkaConsumerStrategy } from './messaging/kafka/kafka-consumer.strategy.ts';
import { createLogger } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { NestLogger } from './observability/nest-logger.ts';
import { createProcessParts } from './process-role.ts';
import { EventLoopDelay } from './runtime/event-loop-delay.ts';
import { armFaults } from './runtime/fault.ts';
import { ProcessLifecycle } from './runtime/process-lifecycle.ts';

const loaded = loadConfig({ env: readEnvironment() });
if (loaded.ok) {
  await start(loaded.config);
} else {
  process.stderr.write(`${formatConfigErrors(loaded.errors, loaded.fileName)}\n`);
  process.exitCode = 1;
}

async function start(config: EinmalConfig): Promise<void> {
  const { roles, port, logLevel, shutdownSeconds, faults } = config.process;
  const logger = createLogger({ level: logLevel, role: roles.join(',') });
  armFaults(faults);
  const dataSource = createDataSource({
    url: config.database.url,
    poolSize: config.database.poolSize,
    applicationName: `einmal ${roles.join(',')}`,
    entities: [CampaignEntity],
  });
  if (!(await openDatabase(dataSource, logger))) {
    process.exitCode = 1;
    return;
  }
  const base = { config, logger, dataSource, metrics: createMetrics({ processMetrics: true }) };
  const parts = createProcessParts(base);
  const eventLoop = new EventLoopDelay();
  eventLoop.start();

  const app = await NestFactory.create(AppModule.forProcess(base, parts, eventLoop), {
    logger: new NestLogger(logger),
    forceCloseConnections: true,
  });
  app.useGlobalFilters(new ProblemFilter(logger));
  const lifecycle = new ProcessLifecycle({
    workers: parts.workers,
    last: parts.relay ? [parts.relay] : [],
    consumers: parts.consumers,
    onStopping: () => app.get(ProcessHealth).shutDown(),
    closeConnections: async () => {
      await parts.close();
      await app.close();
      eventLoop.stop();
      await dataSource.destroy();
    },
    shutdownMs: shutdownSeconds * 1000,
    logger,
  });
  // Handlers must be complete before the first record reaches them.
  await app.init();
  if (parts.consumers) app.connectMicroservice({ strategy: new KafkaConsumerStrategy(parts.consumers) });
  await app.startAllMicroservices();
  await app.listen(port);
  await lifecycle.start();
  logger.info('service.started', { roles, url: await app.getUrl() });
}
