import type { DataSource } from 'typeorm';
import { loadStatement, type NoParameters } from '../database/statement.ts';
import type { Metrics } from '../observability/metrics.ts';
import { monotonicNow } from '../runtime/monotonic.ts';

interface BacklogRow {
  readonly of: 'queued' | 'claimed' | 'calling' | 'unknown' | 'outbox';
  readonly operations: number;
  readonly age_seconds: number;
}

const readBacklog = loadStatement<NoParameters, BacklogRow>(import.meta.url, 'backlog.sql');

/** A scrape asks the database at most this often. */
const FRESH_MS = 5_000;
const OPEN_STATES = ['queued', 'claimed', 'calling', 'unknown'] as const;

/** Gauges of what waits, read when somebody scrapes. */
export class Backlog {
  #readAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
  ) {}

  async refresh(): Promise<void> {
    if (monotonicNow() - this.#readAt < FRESH_MS) return;
    this.#readAt = monotonicNow();
    const rows = new Map((await readBacklog.run(this.dataSource, {})).map((row) => [row.of, row]));
    for (const state of OPEN_STATES) this.metrics.operations.set({ state }, rows.get(state)?.operations ?? 0);
    const claimed = Math.max(rows.get('claimed')?.age_seconds ?? 0, rows.get('calling')?.age_seconds ?? 0);
    this.metrics.oldestAgeSeconds.set({ of: 'queued' }, rows.get('queued')?.age_seconds ?? 0);
    this.metrics.oldestAgeSeconds.set({ of: 'claimed' }, claimed);
    this.metrics.oldestAgeSeconds.set({ of: 'outbox' }, rows.get('outbox')?.age_seconds ?? 0);
  }
}
