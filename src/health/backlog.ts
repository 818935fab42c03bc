import type { DataSource } from 'typeorm';
import { loadStatement, type NoParameters } from '../database/statement.ts';
import type { Metrics } from '../observability/metrics.ts';
import { OPERATION_STATES, type OperationState } from '../operations/operation.states.ts';
import { monotonicNow } from '../runtime/monotonic.ts';

interface BacklogRow {
  readonly of: 'queued' | 'claimed' | 'calling' | 'unknown' | 'outbox';
  readonly operations: number;
  readonly age_seconds: number;
}

const readBacklog = loadStatement<NoParameters, BacklogRow>(import.meta.url, 'backlog.sql');
const countByState = loadStatement<NoParameters, { readonly state: OperationState; readonly operations: number }>(
  import.meta.url,
  'ledger-by-state.sql',
);

/** A scrape asks the database for what is open at most this often. */
const FRESH_MS = 5_000;
/** The whole ledger is counted less often, and the less the longer it takes: at most a hundredth of a connection's time. */
const LEDGER_FRESH_MS = 30_000;
const LEDGER_SHARE = 100;
const OPEN_STATES: readonly OperationState[] = ['queued', 'claimed', 'calling', 'unknown'];

/** Gauges of the ledger and of what waits, read when somebody scrapes. */
export class Backlog {
  #readAt = -Infinity;
  #countAgainAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly metrics: Metrics,
  ) {}

  async refresh(): Promise<void> {
    if (monotonicNow() - this.#readAt < FRESH_MS) return;
    this.#readAt = monotonicNow();
    await this.#countLedger();
    const rows = new Map<string, BacklogRow>((await readBacklog.run(this.dataSource, {})).map((row) => [row.of, row]));
    for (const state of OPEN_STATES) this.metrics.operations.set({ state }, rows.get(state)?.operations ?? 0);
    const claimed = Math.max(rows.get('claimed')?.age_seconds ?? 0, rows.get('calling')?.age_seconds ?? 0);
    this.metrics.oldestAgeSeconds.set({ of: 'queued' }, rows.get('queued')?.age_seconds ?? 0);
    this.metrics.oldestAgeSeconds.set({ of: 'claimed' }, claimed);
    this.metrics.oldestAgeSeconds.set({ of: 'outbox' }, rows.get('outbox')?.age_seconds ?? 0);
  }

  async #countLedger(): Promise<void> {
    const startedAt = monotonicNow();
    if (startedAt < this.#countAgainAt) return;
    const counts = new Map((await countByState.run(this.dataSource, {})).map((row) => [row.state, row.operations]));
    for (const state of OPERATION_STATES) this.metrics.operations.set({ state }, counts.get(state) ?? 0);
    const tookMs = monotonicNow() - startedAt;
    this.#countAgainAt = monotonicNow() + Math.max(LEDGER_FRESH_MS, tookMs * LEDGER_SHARE);
  }
}
