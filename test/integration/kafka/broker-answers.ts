import { createRequire } from 'node:module';

const requireHere = createRequire(import.meta.url);

type Method = 'offsetCommit' | 'heartbeat' | 'fetch';
type Call = (...parameters: unknown[]) => Promise<unknown>;

/**
 * Answers in the broker's place, inside kafkajs: `answer` sees the request and either throws what the broker would have said,
 * or returns and lets it through. Undone by the disposal. Sees every client of this process: look at the request.
 */
export function answerInBrokersPlace(method: Method, answer: (request: unknown) => void): Disposable {
  const { prototype } = requireHere('kafkajs/src/broker/index.js') as { prototype: Record<Method, Call> };
  const original = prototype[method];
  prototype[method] = async function (this: unknown, ...parameters: unknown[]) {
    answer(parameters[0]);
    return await original.apply(this, parameters);
  };
  return { [Symbol.dispose]: () => void (prototype[method] = original) };
}

/** The error that kafkajs makes of this code of the Kafka protocol. */
export function protocolError(code: number): Error {
  const { createErrorFromCode } = requireHere('kafkajs/src/protocol/error.js') as {
    createErrorFromCode: (code: number) => Error;
  };
  return createErrorFromCode(code);
}

/** An error of kafkajs' own by its class name. */
export function kafkajsError(name: 'KafkaJSConnectionError' | 'KafkaJSNotImplemented'): Error {
  const classes = requireHere('kafkajs/src/errors.js') as Record<string, new (message: string) => Error>;
  const ErrorClass = classes[name] ?? Error;
  return new ErrorClass('said in a test');
}

/** The offsets that an OffsetCommit request of this group would store, else null. */
export function offsetsIn(request: unknown, groupId: string): readonly string[] | null {
  const { groupId: group, topics } = request as { groupId: string; topics: { partitions: { offset: unknown }[] }[] };
  return group === groupId ? topics.flatMap(({ partitions }) => partitions.map(({ offset }) => String(offset))) : null;
}
