import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { contractsOfTopic } from '../contracts/registry.ts';
import type { EventBatch, HandlerRegistry } from '../inbox/consumed-event.ts';
import { CONSUMED_TOPIC_NAMES } from '../topics.ts';
import { KafkaConsumerStrategy } from './kafka-consumer.strategy.ts';

const TYPES = CONSUMED_TOPIC_NAMES.flatMap((topic) => contractsOfTopic(topic)).map(({ type }) => type);
const batch = { events: [] } as unknown as EventBatch;

function strategyWith(
  types: readonly string[],
  callback: (...given: unknown[]) => Promise<unknown> = () => Promise.resolve(undefined),
) {
  const started: HandlerRegistry[] = [];
  const strategy = new KafkaConsumerStrategy({
    start: (handlers) => started.push(handlers),
    stop: () => Promise.resolve(),
  });
  for (const type of types) strategy.addHandler(type, (...given: unknown[]) => callback(...given), true);
  const errors: unknown[] = [];
  strategy.listen((error) => errors.push(error));
  return { strategy, started, error: errors[0] };
}

describe('the strategy', () => {
  it('starts the consumers when each type has one handler', () => {
    const { started, error } = strategyWith(TYPES);
    expect(error).toBeUndefined();
    expect(started).toHaveLength(1);
  });

  it('does not start with a type that nobody handles', () => {
    const { started, error } = strategyWith(TYPES.slice(1));
    expect(error).toMatchObject({
      code: 'handlers-incomplete',
      message: expect.stringContaining(`${TYPES[0]} has 0 handlers`),
    });
    expect(started).toHaveLength(0);
  });

  it('does not start with a type that two handle: both would get it, and one commit would hide the other', () => {
    const { started, error } = strategyWith([...TYPES, TYPES[0] ?? '']);
    expect(error).toMatchObject({ message: expect.stringContaining(`${TYPES[0]} has 2 handlers`) });
    expect(started).toHaveLength(0);
  });

  it('waits for the stream that Nest makes of a handler, and throws the very error that the handler threw', async () => {
    const thrown = new TypeError('a bug');
    const { strategy } = strategyWith(TYPES, () => Promise.resolve(from(Promise.reject(thrown))));
    await expect(strategy.handlerOf(TYPES[0] ?? '')?.(batch)).rejects.toBe(thrown);
  });

  it('takes a handler that emits nothing for a success', async () => {
    const { strategy } = strategyWith(TYPES, () => Promise.resolve(from([])));
    await expect(strategy.handlerOf(TYPES[0] ?? '')?.(batch)).resolves.toBeUndefined();
  });
});
