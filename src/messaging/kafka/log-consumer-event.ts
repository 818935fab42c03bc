import type { Logger } from '../../observability/logger.ts';
import type { ConsumerEvent } from './consumer-events.ts';

/** One line per event, `kafka-consumer-<kind>`: errors are incidents and bugs, warnings are repaired by us, the rest is routine. */
export function logConsumerEvent(logger: Logger, { kind, ...fields }: ConsumerEvent): void {
  switch (kind) {
    case 'handler-failed':
    case 'handler-overdue':
    case 'offset-out-of-range':
    case 'offset-jump':
    case 'consumer-stalled':
      logger.error(`kafka-consumer-${kind}`, fields);
      return;
    case 'crashed':
    case 'restarting':
    case 'join-stalled':
    case 'commit-failed':
    case 'assignment-lost':
      logger.warn(`kafka-consumer-${kind}`, fields);
      return;
    case 'joined':
    case 'rebalancing':
    case 'partition-waiting':
      logger.info(`kafka-consumer-${kind}`, fields);
      return;
  }
}
