import type { LookupQuery } from '../../providers/provider.port.ts';

/** Of what was accepted, one is kept in this time, and so many of them: about two hours. */
const EVERY_MS = 30_000;
const KEPT = 240;

interface Canary {
  readonly query: LookupQuery;
  readonly account: string;
}

/**
 * Calls of this process that were accepted: where a later one can be seen by a lookup, an earlier one should be seen as well.
 * Kept in memory alone; after a start there are none, and then a miss means nothing.
 */
export class Canaries {
  readonly #byProvider = new Map<string, Canary[]>();

  /** `query.since`: the database's time of the intent. */
  note(provider: string, account: string, query: LookupQuery): void {
    const kept = this.#byProvider.get(provider) ?? [];
    const newest = kept.at(-1);
    if (newest && query.since.getTime() - newest.query.since.getTime() < EVERY_MS) return;
    kept.push({ query, account });
    if (kept.length > KEPT) kept.shift();
    this.#byProvider.set(provider, kept);
  }

  /** The first that was accepted after this moment by the same account. */
  after(provider: string, account: string, moment: Date): LookupQuery | null {
    const kept = this.#byProvider.get(provider) ?? [];
    return kept.find((canary) => canary.account === account && canary.query.since > moment)?.query ?? null;
  }
}
