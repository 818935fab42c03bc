import 'reflect-metadata';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { loadConfig } from '../../src/config/load-config.ts';
import { createDataSource } from '../../src/database/data-source.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** As compiled: Nest finds what a class needs by metadata that only the compiler writes. */
async function compiled(): Promise<{
  forProcess: (...parts: readonly unknown[]) => Type;
  createProcessParts: (base: object) => object;
}> {
  const dist = new URL('../../dist/src/', import.meta.url);
  const { AppModule } = (await import(new URL('app.module.js', dist).href)) as {
    AppModule: { forProcess: (...parts: readonly unknown[]) => Type };
  };
  const { createProcessParts } = (await import(new URL('process-role.js', dist).href)) as {
    createProcessParts: (base: object) => object;
  };
  return { forProcess: (...parts) => AppModule.forProcess(...parts), createProcessParts };
}

/** `GET /v1/operations/{key}` and so on: what the router of a process with the role `api` has, without starting it. */
export async function routesOfService(): Promise<string[]> {
  const { forProcess, createProcessParts } = await compiled();
  const { EventLoopDelay } = await import('../../src/runtime/event-loop-delay.ts');
  const folder = await mkdtemp(join(tmpdir(), 'einmal-routes-'));
  const file = join(folder, 'einmal.yaml');
  await writeFile(file, CONFIG);
  const loaded = loadConfig({
    env: {
      DATABASE_URL: 'postgres://127.0.0.1:9/x',
      KAFKA_BROKERS: '127.0.0.1:9',
      EINMAL_CONFIG: file,
      EINMAL_ROLES: 'api',
    },
  });
  await rm(folder, { recursive: true });
  if (!loaded.ok) throw new Error('the settings of the test are wrong');
  const dataSource = createDataSource({ url: loaded.config.database.url, poolSize: 1, applicationName: 'routes' });
  const base = {
    config: loaded.config,
    logger: silentLogger,
    dataSource,
    metrics: createMetrics({ processMetrics: false }),
  };
  const module = forProcess(base, createProcessParts(base), new EventLoopDelay());
  const app: INestApplication = await NestFactory.create(module, { logger: false });
  try {
    await app.init();
    const { stack } = (app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } }).router;
    return stack.flatMap(({ route }) => (route ? namesOf(route) : []));
  } finally {
    await app.close();
  }
}

function namesOf({ path, methods }: NonNullable<Layer['route']>): string[] {
  const template = path.replaceAll(/:(\w+)/g, '{$1}');
  return Object.entries(methods).flatMap(([method, has]) => (has ? [`${method.toUpperCase()} ${template}`] : []));
}

const CONFIG = `
tenants:
  demo:
    tokens: []
    senders: [example.org]
    provider: main
providers:
  main: { kind: smtp, host: 127.0.0.1, port: 25, security: none }
`;
