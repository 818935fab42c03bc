import { Controller, type Type } from '@nestjs/common';
import { Ctx, EventPattern, Payload, Transport, type KafkaContext } from '@nestjs/microservices';
import type { DataSource } from 'typeorm';
import type { TenantConfig } from '../../../src/config/einmal-config.ts';
import type { Transaction } from '../../../src/database/in-transaction.ts';
import type { DecodedRecord } from '../../../src/messaging/inbox/decode-record.ts';
import type { EventWriter } from '../../../src/messaging/outbox/produced-event.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import type { OperationRequest } from '../../../src/operations/request-operations/plan-operation.ts';
import { compiled } from './compiled.ts';

export interface ListenerParts {
  readonly dataSource: DataSource;
  readonly topic: string;
  /** Name in the inbox. */
  readonly consumer: string;
  readonly events: EventWriter;
  readonly tenantOf: (tenantId: string) => TenantConfig | undefined;
}

const RETENTION_DAYS = 14;
const LIMITS = { buckets: 16, maxMessageBytes: 1024 * 1024 - 65_536 };
const TYPE = 'einmal.operation.requested.v1';

/**
 * A controller with one handler: validate, then inbox, ledger and outbox in one transaction, then the offset. Decorators are
 * applied as functions, since Node runs this file as it is.
 */
export function operationsListener(parts: ListenerParts): Type {
  class OperationsListener {
    async requested(data: unknown, context: KafkaContext): Promise<void> {
      const record = decoded(data, context);
      await compiled.inTransaction(parts.dataSource, 'usual-way', async (tx) => await handle(tx, parts, record));
      const offset = String(record.record.offset + 1n);
      await context.getConsumer().commitOffsets([{ topic: parts.topic, partition: record.record.partition, offset }]);
    }
  }
  const method = Object.getOwnPropertyDescriptor(OperationsListener.prototype, 'requested') ?? {};
  EventPattern(parts.topic, Transport.KAFKA)(OperationsListener.prototype, 'requested', method);
  Payload()(OperationsListener.prototype, 'requested', 0);
  Ctx()(OperationsListener.prototype, 'requested', 1);
  Controller()(OperationsListener);
  return OperationsListener;
}

/** Nest has parsed value and headers already, so what is left is the schema and the hash. */
function decoded(data: unknown, context: KafkaContext): DecodedRecord {
  const contract = compiled.consumedContract(TYPE);
  const checked = contract && compiled.validate(contract, data);
  if (!checked?.ok) throw new Error('the benchmark publishes valid messages only');
  const { headers = {}, offset, timestamp } = context.getMessage();
  const header = (name: string): string => String(headers[name]);
  return {
    kind: 'event',
    record: {
      topic: context.getTopic(),
      partition: context.getPartition(),
      offset: BigInt(offset),
      timestamp: new Date(Number(timestamp)),
      key: null,
      value: null,
      headers: [],
    },
    hash: compiled.messageHash(TYPE, data),
    event: {
      id: header('ce_id'),
      source: header('ce_source'),
      type: TYPE,
      tenantId: header('ce_tenantid'),
      time: new Date(header('ce_time')),
      data: checked.data,
    },
  };
}

async function handle(tx: Transaction, parts: ListenerParts, record: DecodedRecord): Promise<void> {
  const { fresh } = await compiled.insertFresh(tx, parts.consumer, RETENTION_DAYS, [record]);
  const tenant = parts.tenantOf(record.event.tenantId);
  if (fresh.length === 0 || !tenant) return;
  const event = { ...record.event, data: record.event.data as OperationRequest };
  const outbox: OutboxEntry[] = [];
  await compiled.requestOperations(tx, outbox, parts.events, [
    compiled.planOperation(event, tenant, { maxAttempts: 12 }),
  ]);
  await compiled.appendToOutbox(tx, outbox, LIMITS);
}
