import type { ChunkHandler, ChunkOutcome, RecordChunk } from '../../../src/messaging/kafka/record-chunk.ts';

export const DONE: ChunkOutcome = { kind: 'done' };

/** A handler that writes down what it is given, and what it answered `done` for. */
export class RecordingHandler {
  readonly chunks: RecordChunk[] = [];
  readonly done: string[] = [];
  readonly #answer: (chunk: RecordChunk, call: number) => ChunkOutcome | Promise<ChunkOutcome>;

  /** `answer` gets the chunk and the number of the call, from 1. */
  constructor(answer: (chunk: RecordChunk, call: number) => ChunkOutcome | Promise<ChunkOutcome> = () => DONE) {
    this.#answer = answer;
  }

  readonly handle: ChunkHandler = async (chunk) => {
    this.chunks.push(chunk);
    const outcome = await this.#answer(chunk, this.chunks.length);
    if (outcome?.kind === 'done') this.done.push(...valuesOf(chunk));
    return outcome;
  };
}

export function valuesOf({ records }: RecordChunk): readonly string[] {
  return records.map(({ value }) => value?.toString() ?? 'null');
}

export function numbers(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => String(from + index));
}

/** Held shut until someone opens it. */
export class Gate {
  readonly #entered = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<void>();
  /** Resolves when someone stands at the gate. */
  readonly entered = this.#entered.promise;

  pass(): Promise<void> {
    this.#entered.resolve();
    return this.#opened.promise;
  }

  open(): void {
    this.#opened.resolve();
  }
}
