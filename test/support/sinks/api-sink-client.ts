import type { Effect } from './api-dialects/dialect.ts';
import type { ApiReference, ApiStats } from './api-sink-ledger.ts';
import type { ApiRule } from './api-sink-script.ts';

/** The judge's side. `dialect` narrows to one vendor; without it all are meant. */
export interface ApiJudge {
  stats(dialect?: string): Promise<ApiStats & { readonly stalled: number }>;
  /** Reference -> effects. */
  counts(dialect?: string): Promise<Map<string, number>>;
  references(dialect?: string): Promise<Map<string, ApiReference>>;
  /** Reference -> distinct SHA-256 of the request bodies, hex. */
  hashes(dialect?: string): Promise<Map<string, readonly string[]>>;
  /** Every effect, in the order in which they happened. */
  arrivals(dialect?: string): Promise<readonly Effect[]>;
  /** Requests to paths of no vendor, e.g. `GET /v4/mail`. */
  strays(): Promise<readonly string[]>;
  /** Replaces the rules of this dialect, or those for all (`*`). */
  script(dialect: string, rules: readonly ApiRule[]): Promise<void>;
  /** Lets what stalls go on; the number of requests released. */
  release(dialect?: string): Promise<number>;
  /** Forgets counts, keys and rules. */
  reset(): Promise<void>;
}

export function apiJudge(controlUrl: string): ApiJudge {
  const ask = async (path: string, dialect?: string): Promise<unknown> => {
    return await askControl(`${controlUrl}${path}${dialect === undefined ? '' : `?dialect=${dialect}`}`);
  };
  const tell = async (path: string, body: unknown): Promise<unknown> => await askControl(`${controlUrl}${path}`, body);
  const references = async (dialect?: string): Promise<Map<string, ApiReference>> => {
    return new Map(Object.entries((await ask('/references', dialect)) as Record<string, ApiReference>));
  };
  return {
    references,
    stats: async (dialect) => (await ask('/stats', dialect)) as ApiStats & { stalled: number },
    counts: async (dialect) => new Map(Object.entries((await ask('/counts', dialect)) as Record<string, number>)),
    hashes: async (dialect) => new Map([...(await references(dialect))].map(([name, { hashes }]) => [name, hashes])),
    arrivals: async (dialect) => (await ask('/effects', dialect)) as Effect[],
    strays: async () => (await ask('/strays')) as string[],
    script: async (dialect, rules) => void (await tell('/script', { dialect, rules })),
    release: async (dialect) =>
      ((await tell('/release', { dialect: dialect ?? null })) as { released: number }).released,
    reset: async () => void (await tell('/reset', {})),
  };
}

async function askControl(url: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`the sink refused ${url}: ${JSON.stringify(answer)}`);
  return answer;
}
