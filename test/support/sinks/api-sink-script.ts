import type { Refusal } from './api-dialects/dialect.ts';

/**
 * Where in a request the sink may misbehave. `head`: the head is read and the body is not. `body`: all is read, nothing is done.
 * `accepted`: the effect is counted (or an earlier one found by its key), nothing is answered. `key`: a key is looked for.
 * `message`: one of those that a request is about, to be refused (`refuse`) while the others are taken. `lookup`: a lookup is about
 * to be answered. Only `message` knows the references of a batch.
 */
export type ApiPhase = 'head' | 'body' | 'accepted' | 'key' | 'message' | 'lookup';

export type ApiAction =
  /** Closes the connection without an answer (FIN), or with a reset (RST). */
  | { readonly do: 'drop' | 'reset' }
  /** Nothing until `release()`, then it goes on as if nothing had been, also where the client has left. */
  | { readonly do: 'stall' }
  | { readonly do: 'delay'; readonly ms: number }
  /** The vendor's own refusal; the effect stays where it was counted before. */
  | { readonly do: 'refuse'; readonly as: Refusal }
  /** 102 before anything else, then it goes on as if nothing had been. */
  | { readonly do: 'interim' }
  /** Bytes that are no HTTP, then the end of the connection. */
  | { readonly do: 'babble' }
  /** The right answer, and behind it another one that nobody asked for. */
  | { readonly do: 'twice' }
  /** Any answer. */
  | {
      readonly do: 'reply';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** 200 with a page of HTML, as a proxy or a captive portal gives it. */
  | { readonly do: 'garbage' }
  /** 200 without a body. */
  | { readonly do: 'empty' }
  /** The right answer's first half: `json` ends the answer there, `connection` ends the connection. */
  | { readonly do: 'truncate'; readonly where: 'json' | 'connection' }
  /** The right answer, one byte each so many ms. */
  | { readonly do: 'drip'; readonly everyMs: number }
  /** The right answer with so many bytes more. */
  | { readonly do: 'huge'; readonly bytes: number }
  /** 307 to the same address. */
  | { readonly do: 'redirect' }
  /** Phase `key`: keys older than this are not known any more. */
  | { readonly do: 'forget'; readonly afterMs: number }
  /** Phase `lookup`: shows no effect that is younger; without `ms` it shows none. */
  | { readonly do: 'late'; readonly ms?: number }
  /** Phase `lookup`: ignores what is asked for, and shows no reference in its rows. */
  | { readonly do: 'careless' };

/** The first rule that matches and fires decides. */
export interface ApiRule {
  readonly phase: ApiPhase;
  readonly action: ApiAction;
  /** Only requests with this reference. None is known at `head` and at lookups. */
  readonly reference?: string;
  /** Source of a regular expression over the reference. */
  readonly pattern?: string;
  /** Fires only at this match, counted from 1. */
  readonly nth?: number;
  /** Fires at most so often. */
  readonly times?: number;
}

interface LiveRule {
  readonly rule: ApiRule;
  readonly pattern: RegExp | null;
  matches: number;
  fired: number;
}

/** Rules per dialect, so that cases of several vendors can run at once; `*` holds for all of them, behind a dialect's own. */
export class ApiScript {
  readonly #rules = new Map<string, LiveRule[]>();

  set(dialect: string, rules: readonly ApiRule[]): void {
    const live = rules.map((rule) => ({
      rule,
      pattern: rule.pattern === undefined ? null : new RegExp(rule.pattern, 'u'),
      matches: 0,
      fired: 0,
    }));
    this.#rules.set(dialect, live);
  }

  clear(): void {
    this.#rules.clear();
  }

  decide(dialect: string, phase: ApiPhase, reference: string | null): ApiAction | null {
    for (const live of [...(this.#rules.get(dialect) ?? []), ...(this.#rules.get('*') ?? [])]) {
      if (live.rule.phase === phase && fitsReference(live, reference) && fires(live)) return live.rule.action;
    }
    return null;
  }
}

function fitsReference({ rule, pattern }: LiveRule, reference: string | null): boolean {
  if (rule.reference !== undefined && rule.reference !== reference) return false;
  return pattern === null || (reference !== null && pattern.test(reference));
}

function fires(live: LiveRule): boolean {
  live.matches += 1;
  const { nth, times } = live.rule;
  if (nth !== undefined && live.matches !== nth) return false;
  if (times !== undefined && live.fired >= times) return false;
  live.fired += 1;
  return true;
}
