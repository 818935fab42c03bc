import type { DataSource } from 'typeorm';
import { classifyDatabaseError } from '../../database/postgres-errors.ts';
import { loadStatement, type NoParameters } from '../../database/statement.ts';
import type { OperationState } from '../operation.states.ts';
import { FreshEnough, type Kept } from './fresh-enough.ts';

interface MotionRow {
  readonly of: 'queued' | 'awaiting-approval' | 'claimed' | 'calling' | 'unknown' | 'needs-person' | 'conflicts';
  readonly operations: number;
  readonly oldest_seconds: number | null;
}

interface EndedRow {
  readonly tenant: string;
  readonly state: OperationState;
  readonly operations: number;
}

/** What a tenant has in its ledger. */
export interface TenantStats {
  readonly inMotion: Kept<readonly MotionRow[]>;
  /** null: the ledger is too large to be counted in time. */
  readonly ended: Kept<readonly EndedRow[]> | null;
}

const countInMotion = loadStatement<{ tenant: string }, MotionRow>(import.meta.url, 'count-in-motion.sql');
const countEnded = loadStatement<NoParameters, EndedRow>(import.meta.url, 'count-ended.sql');

/** What is in motion is counted anew after this, where partial indexes make it cheap. */
const MOTION_FRESH_MS = 2_000;
/** What has ended is counted over the whole ledger, for all tenants at once. */
const ENDED_FRESH_MS = 30_000;

/** Figures of the ledger at a bounded cost, however often they are asked for: exact, and as old as they say. */
export class OperationStats {
  readonly #dataSource: DataSource;
  readonly #byTenant = new Map<string, FreshEnough<readonly MotionRow[]>>();
  readonly #ended: FreshEnough<readonly EndedRow[]>;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#ended = new FreshEnough(ENDED_FRESH_MS, async () => await countEnded.run(dataSource, {}));
  }

  async read(tenant: string): Promise<TenantStats> {
    const inMotion = await this.#motionOf(tenant).get();
    const ended = await this.#countedInTime();
    return {
      inMotion,
      ended: ended && { ...ended, value: ended.value.filter((row) => row.tenant === tenant) },
    };
  }

  /** A statement that was cut counts as a database that is away; whether it is, the count before this one has shown. */
  async #countedInTime(): Promise<Kept<readonly EndedRow[]> | null> {
    try {
      return await this.#ended.get();
    } catch (error) {
      if (classifyDatabaseError(error) === 'away') return null;
      throw error;
    }
  }

  #motionOf(tenant: string): FreshEnough<readonly MotionRow[]> {
    const known = this.#byTenant.get(tenant);
    if (known) return known;
    const motion = new FreshEnough(
      MOTION_FRESH_MS,
      async (): Promise<readonly MotionRow[]> => await countInMotion.run(this.#dataSource, { tenant }),
    );
    this.#byTenant.set(tenant, motion);
    return motion;
  }
}
