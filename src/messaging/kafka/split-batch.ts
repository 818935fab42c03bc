import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { ConsumedRecord } from './record-chunk.ts';

/** What one record costs besides its bytes: key and value pointers, offset, timestamp, array slots. */
const RECORD_OVERHEAD_BYTES = 100;

interface FetchedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
}

export interface ChunkLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** Cuts a fetched batch, in order, into runs within both limits; a record above `maxBytes` is alone. Lazy: later runs may never be asked for. */
export function* splitBatch(batch: FetchedBatch, limits: ChunkLimits): Generator<readonly ConsumedRecord[]> {
  let run: ConsumedRecord[] = [];
  let bytes = 0;
  for (const message of batch.messages) {
    const record = toRecord(batch, message);
    const size = sizeOf(record);
    if (run.length >= limits.maxRecords || (run.length > 0 && bytes + size > limits.maxBytes)) {
      yield run;
      run = [];
      bytes = 0;
    }
    run.push(record);
    bytes += size;
  }
  if (run.length > 0) yield run;
}

function toRecord({ topic, partition }: FetchedBatch, message: KafkaMessage): ConsumedRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    timestamp: new Date(Number(message.timestamp)),
    key: message.key,
    value: message.value,
    headers: headerList(message.headers),
  };
}

/**
 * kafkajs gathers headers in a plain object, where a header named like a member of every object (`constructor`) drags that member
 * into its values. Only buffers came over the wire; a null value did too, as null.
 */
function headerList(headers: IHeaders | undefined): (readonly [string, Buffer])[] {
  const list: (readonly [string, Buffer])[] = [];
  for (const [name, given] of Object.entries(headers ?? {})) {
    const values: readonly unknown[] = Array.isArray(given) ? given : [given];
    for (const value of values) {
      if (Buffer.isBuffer(value)) list.push([name, value]);
      else if (value === null) list.push([name, Buffer.alloc(0)]);
    }
  }
  return list;
}

function sizeOf({ key, value, headers }: ConsumedRecord): number {
  const own = RECORD_OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  return headers.reduce((sum, [name, content]) => sum + name.length + content.length, own);
}
