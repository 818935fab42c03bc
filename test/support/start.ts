import { startService } from './service.ts';
import { migrateUp } from './migrate-up.ts';
import { startStack } from './stack/stack.ts';
import { existsSync } from 'node:fs';

/**
 * `npm start`: the service against what DATABASE_URL and KAFKA_BROKERS name, else against a PostgreSQL and a broker of its
 * own whose data stay in `.einmal/`.
 */
const log = (line: string): void => console.error(line);
const stack = await startStack({ mode: 'persistent', log });
await migrateUp(stack.databaseUrl);
const configFile = process.env['EINMAL_CONFIG'] ?? (existsSync('einmal.yaml') ? 'einmal.yaml' : 'einmal.example.yaml');
const service = await startService({
  databaseUrl: stack.databaseUrl,
  kafkaBrokers: stack.kafkaBrokers,
  topicPrefix: process.env['EINMAL_TOPIC_PREFIX'] ?? 'einmal.',
  configFile,
  output: 'inherit',
  port: Number(process.env['PORT'] ?? '8080'),
});
console.error(`start: ${configFile}, HTTP on ${service.url}; Ctrl-C stops all of it`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void service.stop());
const end = await service.exited;
await stack.stop();
process.exitCode = typeof end === 'number' ? end : 1;
