import type { LogEntry, logCreator } from 'kafkajs';
import kafkajs from 'kafkajs';
import type { Logger } from '../../observability/logger.ts';

export interface KafkaLogRoute {
  readonly logger: Logger;
  /** Names and addresses of brokers seen so far, to be kept out of messages. */
  readonly hosts: ReadonlySet<string>;
  readonly onOffsetOutOfRange: (place: { readonly topic: string; readonly partition: number }) => void;
}

const SAFE_FIELDS = [
  'groupId',
  'topic',
  'partition',
  'retryCount',
  'retryTime',
  'apiName',
  'isLeader',
  'duration',
] as const;

/**
 * kafkajs' log as lines of ours, one level lower than it calls them: what is an error to it is repaired by the supervisor, which
 * speaks for itself. Only known harmless fields are kept, and no broker address stays in a message.
 */
export function routeKafkaLog({ logger, hosts, onOffsetOutOfRange }: KafkaLogRoute): logCreator {
  return () => (entry) => {
    if (isOffsetReset(entry)) onOffsetOutOfRange({ topic: entry.log['topic'], partition: entry.log['partition'] });
    if (isRetryNotice(entry)) return;
    const fields = { from: entry.namespace, message: withoutAddresses(entry.log.message, hosts), ...safeFields(entry) };
    if (entry.level <= kafkajs.logLevel.ERROR) logger.warn('kafka-client', fields);
    else if (entry.level === kafkajs.logLevel.WARN) logger.info('kafka-client', fields);
    else logger.debug('kafka-client', fields);
  };
}

/**
 * kafkajs resets an offset out of range to the earliest one and tells nobody but its log. In 2.2.4 this is the only error that
 * the namespace ConsumerGroup logs with a topic and a partition, so neither its text nor its language decides.
 */
function isOffsetReset(entry: LogEntry): entry is LogEntry & { log: { topic: string; partition: number } } {
  const { topic, partition } = entry.log;
  const isError = entry.namespace === 'ConsumerGroup' && entry.level === kafkajs.logLevel.ERROR;
  return isError && typeof topic === 'string' && typeof partition === 'number';
}

/** The only warning of this namespace: fewer than endless retries. Ours are few on purpose (see KafkaProducer). */
function isRetryNotice(entry: LogEntry): boolean {
  return entry.namespace === 'Producer' && entry.level === kafkajs.logLevel.WARN;
}

function safeFields({ log }: LogEntry): Record<string, unknown> {
  return Object.fromEntries(SAFE_FIELDS.filter((name) => name in log).map((name) => [name, log[name]]));
}

export function withoutAddresses(message: string, hosts: ReadonlySet<string>): string {
  let text = message;
  for (const host of hosts) text = text.replaceAll(host, '[broker]');
  const address =
    /\[?\[broker\]\]?(?::\d+)?|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\[?(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\]?(?::\d+)?/gi;
  return text.replaceAll(address, '[broker]');
}
