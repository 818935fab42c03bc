import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { contractsOfTopic } from '../contracts/registry.ts';
import type { EventBatch, EventHandler, HandlerRegistry } from '../inbox/consumed-event.ts';
import { KAFKA_INBOX } from '../inbox/handles.decorator.ts';
import { CONSUMED_TOPIC_NAMES } from '../topics.ts';
import { ServiceError } from '../../runtime/service-error.ts';

/** What runs the consumers: started when every handler is known, stopped before the process ends. */
export interface ConsumerGroup {
  start(handlers: HandlerRegistry): void;
  stop(): Promise<void>;
}

/**
 * The Nest transport of our events. Nest finds the methods marked with `@Handles` and hands them over; records are read by
 * the consumers of the group, and reach a method as a batch of fresh events. Not Nest's own Kafka server: that commits past
 * messages that failed.
 */
export class KafkaConsumerStrategy extends Server implements CustomTransportStrategy, HandlerRegistry {
  override readonly transportId = KAFKA_INBOX;

  constructor(private readonly consumers: ConsumerGroup) {
    super();
  }

  /** @throws ServiceError `handlers-incomplete` unless each consumed type has exactly one handler */
  listen(callback: (error?: unknown) => void): void {
    const problems = handlerProblems((type) => this.#countHandlers(type));
    if (problems.length > 0) {
      callback(new ServiceError('handlers-incomplete', problems.join('; '), { retryable: false }));
      return;
    }
    this.consumers.start(this);
    callback();
  }

  async close(): Promise<void> {
    await this.consumers.stop();
  }

  handlerOf(type: string): EventHandler | undefined {
    const handler = this.messageHandlers.get(type);
    if (!handler) return undefined;
    return async (batch: EventBatch) => {
      const result: unknown = await handler(batch);
      if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
    };
  }

  on(): never {
    throw new ServiceError('not-supported', 'this transport has no events of its own; see the health endpoints', {
      retryable: false,
    });
  }

  /** The consumers themselves; Nest's signature leaves their type to the caller. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the signature is Nest's
  override unwrap<T = ConsumerGroup>(): T {
    return this.consumers as T;
  }

  #countHandlers(type: string): number {
    let count = 0;
    for (let handler = this.messageHandlers.get(type); handler; handler = handler.next as typeof handler) count += 1;
    return count;
  }
}

function handlerProblems(count: (type: string) => number): string[] {
  return CONSUMED_TOPIC_NAMES.flatMap((topic) => contractsOfTopic(topic))
    .map(({ type }) => ({ type, handlers: count(type) }))
    .filter(({ handlers }) => handlers !== 1)
    .map(({ type, handlers }) => `${type} has ${handlers} handlers and needs one`);
}
