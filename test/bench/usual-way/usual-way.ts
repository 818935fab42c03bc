// The operations topic consumed as Nest's documentation shows it: ServerKafka, one message at a time. Started by the consume pair.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Transport } from '@nestjs/microservices';
import kafkajs from 'kafkajs';
import type { TenantConfig } from '../../../src/config/einmal-config.ts';
import { compiled } from './compiled.ts';
import { operationsListener } from './operations-listener.ts';

export interface UsualWaySettings {
  readonly databaseUrl: string;
  readonly kafkaBrokers: string;
  readonly topicPrefix: string;
  readonly groupId: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as UsualWaySettings;
const TENANT: TenantConfig = {
  id: 'demo',
  tokens: [],
  senders: ['einmal.example'],
  provider: 'main',
  providers: ['main'],
  keyRetentionDays: 400,
  payloadRetentionDays: 30,
  afterKeyRetention: 'tombstone',
  onUnknown: 'hold',
};

const dataSource = compiled.createDataSource({
  url: settings.databaseUrl,
  poolSize: 5,
  applicationName: 'usual way',
});
await dataSource.initialize();

class UsualWayModule {}
Module({
  controllers: [
    operationsListener({
      dataSource,
      topic: `${settings.topicPrefix}operations.v1`,
      consumer: settings.groupId,
      events: new compiled.EventWriter(settings.topicPrefix),
      tenantOf: (tenantId) => (tenantId === 'demo' ? TENANT : undefined),
    }),
  ],
})(UsualWayModule);

const app = await NestFactory.createMicroservice(UsualWayModule, {
  transport: Transport.KAFKA,
  logger: ['error'],
  options: {
    client: { clientId: 'usual-way', brokers: settings.kafkaBrokers.split(','), logLevel: kafkajs.logLevel.NOTHING },
    consumer: { groupId: settings.groupId, allowAutoTopicCreation: false },
    subscribe: { fromBeginning: true },
    run: { autoCommit: false },
  },
});
await app.listen();
process.once('SIGTERM', () => {
  void app
    .close()
    .then(() => dataSource.destroy())
    .finally(() => process.exit(0));
});
// Also when the benchmark itself was ended.
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
