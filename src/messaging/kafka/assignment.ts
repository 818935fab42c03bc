import { monotonicNow } from '../../runtime/monotonic.ts';

export interface PartitionStatus {
  readonly partition: number;
  /** Next offset to read that the group has stored; null while not known. */
  readonly committed: string | null;
  /** Offset of the next record to be written; null while not known. */
  readonly highWatermark: string | null;
  readonly lag: number | null;
  readonly pausedUntil: Date | null;
}

export interface PartitionState {
  /** Where the next fetch must begin; null until the first one after a join. */
  position: bigint | null;
  committed: bigint | null;
  highWatermark: bigint | null;
  /** Monotonic ms of the last thing that showed the partition alive: join, records, resume. */
  aliveAt: number;
  /** Throws and failed commits in a row. */
  failures: number;
}

/** What this member holds, and the epoch that says whether something begun earlier still counts. */
export class Assignment {
  #epoch = 0;
  #partitions = new Map<number, PartitionState>();

  /** Grows with every join and every loss: a chunk of an older epoch commits nothing. */
  get epoch(): number {
    return this.#epoch;
  }

  join(partitions: readonly number[]): void {
    this.#epoch += 1;
    const before = this.#partitions;
    this.#partitions = new Map(partitions.map((partition) => [partition, stateAfterJoin(before.get(partition))]));
  }

  lose(): void {
    this.#epoch += 1;
  }

  partitions(): readonly number[] {
    return [...this.#partitions.keys()].toSorted((a, b) => a - b);
  }

  /** undefined for a partition that is not ours. */
  get(partition: number): PartitionState | undefined {
    return this.#partitions.get(partition);
  }
}

/** Records not yet read of a partition: behind the position, or before the first fetch behind what the group stored. */
export function lagOf({ position, committed, highWatermark }: PartitionState): number | null {
  const from = position ?? committed;
  if (from === null || highWatermark === null) return null;
  return highWatermark > from ? Number(highWatermark - from) : 0;
}

function stateAfterJoin(before: PartitionState | undefined): PartitionState {
  const { committed = null, highWatermark = null, failures = 0 } = before ?? {};
  return { position: null, committed, highWatermark, aliveAt: monotonicNow(), failures };
}
