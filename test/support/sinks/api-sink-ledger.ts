import type { Effect, Submission } from './api-dialects/dialect.ts';

/** What became known of one reference. */
export interface ApiReference {
  readonly dialect: string;
  /** Requests that were read to their end, and those among them that had a key. */
  readonly requests: number;
  readonly keyed: number;
  /** Distinct keys and their forms, in the order seen. */
  readonly keys: readonly string[];
  readonly keyForms: readonly string[];
  /** Distinct SHA-256 of the bodies, hex, in the order seen. */
  readonly hashes: readonly string[];
  readonly effects: number;
}

export interface ApiStats {
  /** Requests to a send endpoint whose head arrived, and those of them whose body did. */
  readonly requests: number;
  readonly bodies: number;
  readonly lookups: number;
  readonly effects: number;
  /** References with an effect, and with more than one. */
  readonly distinct: number;
  readonly doubled: number;
  /** Requests that the vendor would refuse for their form, with the reason; and those without the credential. */
  readonly malformed: readonly string[];
  readonly unauthorized: number;
}

interface Counted {
  dialect: string;
  requests: number;
  keyed: number;
  keys: string[];
  keyForms: string[];
  hashes: string[];
  effects: number;
}

const MAX_ARRIVALS = 500_000;
const MAX_MALFORMED = 100;

/** Counts per dialect and reference. An effect is counted when the vendor would have done it, whatever is answered. */
export class ApiLedger {
  /** Requests to no path that any dialect knows, e.g. `POST /v9/mail`. */
  readonly strays: string[] = [];
  readonly effects: Effect[] = [];
  readonly #references = new Map<string, Counted>();
  readonly #heads = new Map<string, number>();
  readonly #bodies = new Map<string, number>();
  readonly #lookups = new Map<string, number>();
  readonly #unauthorized = new Map<string, number>();
  readonly #malformed = new Map<string, string[]>();

  headArrived(dialect: string): void {
    add(this.#heads, dialect);
  }

  bodyArrived(dialect: string): void {
    add(this.#bodies, dialect);
  }

  lookedUp(dialect: string): void {
    add(this.#lookups, dialect);
  }

  refusedCredential(dialect: string): void {
    add(this.#unauthorized, dialect);
  }

  refusedForm(dialect: string, reason: string): void {
    const reasons = this.#malformed.get(dialect) ?? [];
    if (reasons.length < MAX_MALFORMED) reasons.push(reason);
    this.#malformed.set(dialect, reasons);
  }

  strayed(what: string): void {
    if (this.strays.length < MAX_MALFORMED) this.strays.push(what);
  }

  requested(dialect: string, { reference, key, keyForm }: Submission, hash: string): void {
    const counted = this.#counted(dialect, reference);
    counted.requests += 1;
    if (!counted.hashes.includes(hash)) counted.hashes.push(hash);
    if (key === null) return;
    counted.keyed += 1;
    if (!counted.keys.includes(key)) counted.keys.push(key);
    if (keyForm !== null && !counted.keyForms.includes(keyForm)) counted.keyForms.push(keyForm);
  }

  /** @returns number of the effect, from 1 */
  nextNumber(): number {
    return this.effects.length + 1;
  }

  took(effect: Effect): void {
    this.#counted(effect.dialect, effect.reference).effects += 1;
    if (this.effects.length < MAX_ARRIVALS) this.effects.push(effect);
  }

  /** @param dialect null for all */
  stats(dialect: string | null): ApiStats {
    const references = Object.values(this.references(dialect));
    return {
      requests: sum(this.#heads, dialect),
      bodies: sum(this.#bodies, dialect),
      lookups: sum(this.#lookups, dialect),
      effects: references.reduce((total, { effects }) => total + effects, 0),
      distinct: references.filter(({ effects }) => effects > 0).length,
      doubled: references.filter(({ effects }) => effects > 1).length,
      malformed: [...this.#malformed].flatMap(([name, reasons]) => (isOf(dialect, name) ? reasons : [])),
      unauthorized: sum(this.#unauthorized, dialect),
    };
  }

  /** Where two dialects got the same reference, the sum stands under the first of them. */
  references(dialect: string | null): Record<string, ApiReference> {
    const all: Record<string, ApiReference> = {};
    for (const [name, counted] of this.#references) {
      if (!isOf(dialect, counted.dialect)) continue;
      const reference = name.slice(counted.dialect.length + 1);
      const other = all[reference];
      all[reference] = other === undefined ? counted : { ...other, effects: other.effects + counted.effects };
    }
    return all;
  }

  reset(): void {
    for (const counts of [this.#heads, this.#bodies, this.#lookups, this.#unauthorized]) counts.clear();
    this.#malformed.clear();
    this.#references.clear();
    this.effects.length = this.strays.length = 0;
  }

  #counted(dialect: string, reference: string): Counted {
    const name = `${dialect} ${reference}`;
    const known = this.#references.get(name);
    if (known !== undefined) return known;
    const counted = { dialect, requests: 0, keyed: 0, keys: [], keyForms: [], hashes: [], effects: 0 };
    this.#references.set(name, counted);
    return counted;
  }
}

function add(counts: Map<string, number>, dialect: string): void {
  counts.set(dialect, (counts.get(dialect) ?? 0) + 1);
}

function sum(counts: ReadonlyMap<string, number>, dialect: string | null): number {
  let total = 0;
  for (const [name, count] of counts) if (isOf(dialect, name)) total += count;
  return total;
}

function isOf(wanted: string | null, dialect: string): boolean {
  return wanted === null || wanted === dialect;
}
