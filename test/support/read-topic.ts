import kafkajs from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { eventually } from './eventually.ts';

export interface ReadRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Values of a header, in order. */
  all(name: string): Buffer[];
  /** The text of a header that is there once. */
  one(name: string): string;
}

/** Reads a topic from its beginning, with kafkajs as it is, until `count` records are there. */
export async function readTopic(brokers: string, topic: string, count: number): Promise<ReadRecord[]> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 200 });
  const records: ReadRecord[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachBatch: ({ batch }) => {
      for (const { key, value, headers = {} } of batch.messages) records.push(recordOf(key, value, headers));
      return Promise.resolve();
    },
  });
  try {
    await eventually(`${count} records on ${topic}`, 20_000, () => records.length >= count);
  } finally {
    await consumer.disconnect();
  }
  return records;
}

function recordOf(key: Buffer | null, value: Buffer | null, headers: Readonly<Record<string, unknown>>): ReadRecord {
  // kafkajs mixes members of every object into a header that is named like one.
  const all = (name: string): Buffer[] => {
    const given = Object.hasOwn(headers, name) ? headers[name] : [];
    return (Array.isArray(given) ? given : [given]).filter((each) => Buffer.isBuffer(each));
  };
  const one = (name: string): string => {
    const [text, ...more] = all(name);
    if (text === undefined || more.length > 0) throw new Error(`the header ${name} is not there once`);
    return text.toString();
  };
  return { key, value, all, one };
}
