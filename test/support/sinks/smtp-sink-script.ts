/** Where in a transaction the sink may misbehave; `dot` is before counting the mail, `accepted` after it. */
export type SinkPhase = 'connect' | 'ehlo' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'dot' | 'accepted';
export const SINK_PHASES: readonly SinkPhase[] = [
  'connect',
  'ehlo',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
  'dot',
  'accepted',
];

export type SinkAction =
  /** Closes the connection without a word (FIN), or with a reset (RST). */
  | { readonly do: 'drop' | 'reset' }
  /** Answers this line instead of the usual one, e.g. `452 4.2.2 mailbox full`. 421 also closes. */
  | { readonly do: 'reply'; readonly line: string }
  /** Says nothing until `release()`, then goes on as if nothing had been. */
  | { readonly do: 'stall' }
  | { readonly do: 'delay'; readonly ms: number };

/** The first rule that matches and fires decides. `recipient` and `pattern` match nothing before RCPT. */
export interface SinkRule {
  readonly phase: SinkPhase;
  readonly action: SinkAction;
  /** Local part of the recipient. */
  readonly recipient?: string;
  /** Source of a regular expression over the whole recipient. */
  readonly pattern?: string;
  /** Fires only at this match, counted from 1. */
  readonly nth?: number;
  /** Fires at most so often. */
  readonly times?: number;
  /** 0 to 1, drawn from the seeded generator. */
  readonly probability?: number;
}

interface LiveRule {
  readonly rule: SinkRule;
  readonly pattern: RegExp | null;
  matches: number;
  fired: number;
}

export class SinkScript {
  #rules: LiveRule[] = [];
  #random: () => number = seeded(1);

  /** @param seed Makes a run with probabilities repeatable. */
  set(rules: readonly SinkRule[], seed = 1): void {
    this.#random = seeded(seed);
    this.#rules = rules.map((rule) => ({
      rule,
      pattern: rule.pattern === undefined ? null : new RegExp(rule.pattern, 'u'),
      matches: 0,
      fired: 0,
    }));
  }

  decide(phase: SinkPhase, recipient: string): SinkAction | null {
    for (const live of this.#rules) {
      if (live.rule.phase === phase && fitsRecipient(live, recipient) && this.#fires(live)) return live.rule.action;
    }
    return null;
  }

  #fires(live: LiveRule): boolean {
    live.matches += 1;
    const { nth, times, probability } = live.rule;
    if (nth !== undefined && live.matches !== nth) return false;
    if (times !== undefined && live.fired >= times) return false;
    if (probability !== undefined && this.#random() >= probability) return false;
    live.fired += 1;
    return true;
  }
}

function fitsRecipient(live: LiveRule, recipient: string): boolean {
  const { recipient: local } = live.rule;
  if (local !== undefined && recipient.slice(0, recipient.lastIndexOf('@')) !== local) return false;
  return live.pattern === null || (recipient !== '' && live.pattern.test(recipient));
}

/** Linear congruential generator modulo 2^32 (Numerical Recipes constants): enough to scatter faults, and repeatable. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
