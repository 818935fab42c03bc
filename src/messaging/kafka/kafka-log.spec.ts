import kafkajs, { type LogEntry } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../../observability/logger.ts';
import { routeKafkaLog } from './kafka-log.ts';

const { logLevel } = kafkajs;

function routed(entry: Omit<LogEntry, 'log'> & { log: Record<string, unknown> }) {
  const lines: [level: string, event: string, fields: LogFields | undefined][] = [];
  const resets: unknown[] = [];
  const write = (level: string) => (event: string, fields?: LogFields) => void lines.push([level, event, fields]);
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => logger,
  };
  const hosts = new Set(['broker-1.internal']);
  const log = routeKafkaLog({ logger, hosts, onOffsetOutOfRange: (place) => resets.push(place) })(logLevel.INFO);
  log({ ...entry, log: { timestamp: '', logger: 'kafkajs', message: '', ...entry.log } });
  return { lines, resets };
}

describe('routeKafkaLog', () => {
  it('lowers the level and keeps known fields only, without addresses', () => {
    const message =
      'Connection error: connect ECONNREFUSED 10.1.2.3:9092 to broker-1.internal:9092 or [fe80::1:2]:9092';
    const log = { message, broker: 'broker-1.internal:9092', stack: 'at 10.1.2.3', groupId: 'g', retryCount: 2 };
    const { lines } = routed({ namespace: 'Connection', level: logLevel.ERROR, label: 'ERROR', log });
    const fields = { from: 'Connection', message: expect.any(String) as string, groupId: 'g', retryCount: 2 };
    expect(lines).toEqual([['warn', 'kafka-client', fields]]);
    expect(JSON.stringify(lines)).not.toMatch(/10\.1|internal|fe80|9092/);
    expect(JSON.stringify(lines)).toContain('ECONNREFUSED');
  });

  it('J: finds a reset offset by where it is logged, whatever the text', () => {
    const log = { message: 'x', topic: 't', partition: 3 };
    const reset = { namespace: 'ConsumerGroup', level: logLevel.ERROR, label: 'ERROR', log };
    expect(routed(reset).resets).toEqual([{ topic: 't', partition: 3 }]);
    expect(routed({ ...reset, level: logLevel.INFO }).resets).toEqual([]);
    expect(routed({ ...reset, namespace: 'Connection' }).resets).toEqual([]);
  });

  it('N: drops the notice about few retries', () => {
    expect(routed({ namespace: 'Producer', level: logLevel.WARN, label: 'WARN', log: {} }).lines).toEqual([]);
  });
});
