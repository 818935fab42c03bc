import { createHash, hash } from 'node:crypto';
import type { Abilities } from '../abilities.ts';
import type { CallOutcome, Outgoing, Prepared, Provider } from '../provider.port.ts';
import { timedOut } from './classify.ts';
import type { SmtpConfig, SmtpMail } from './smtp-config.ts';
import { SmtpLane } from './smtp-lane.ts';

/** Milliseconds that `close` leaves to deliveries in flight before it ends them (some as ambiguous). */
const CLOSE_GRACE_MS = 5000;

/** The first sign of a mail may be its bounce, which servers send after hours to days (RFC 5321 4.5.4.1). */
const RECEIPT_WAIT_MS = 24 * 3_600_000;
/** What servers commonly take, before they say so in EHLO. */
const MAX_BYTES = 50 * 1024 * 1024;

interface Waiting {
  readonly run: (lane: SmtpLane) => void;
  readonly refuse: (result: CallOutcome) => void;
}

/** SMTP by one connection per delivery at once, each opened when first needed. One recipient per transaction. */
export function createSmtpProvider(config: SmtpConfig): Provider {
  return new SmtpProvider(config);
}

class SmtpProvider implements Provider {
  readonly name: string;
  readonly concurrency: number;
  /** SMTP knows no key and answers no questions: only a bounce or a person can tell what became of a lost call. */
  readonly abilities: Abilities;
  readonly account: string;
  readonly shape = null;
  readonly #lanes: readonly SmtpLane[];
  /** The lane used last goes first: a quiet provider keeps few connections. */
  readonly #free: SmtpLane[];
  readonly #waiting = new Set<Waiting>();
  readonly #maxTimeoutMs: number;
  #closed = false;
  #drained: (() => void) | null = null;

  constructor(config: SmtpConfig) {
    this.name = config.name;
    this.concurrency = config.connections;
    this.abilities = {
      key: { kind: 'none' },
      lookup: { kind: 'none' },
      receipt: { kind: 'proves-acceptance', waitMs: config.receiptWaitMs ?? RECEIPT_WAIT_MS },
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    };
    this.account = accountOf(config);
    this.#maxTimeoutMs = config.timeoutMs;
    this.#lanes = Array.from({ length: config.connections }, () => new SmtpLane(config));
    this.#free = [...this.#lanes];
  }

  prepare(outgoing: Outgoing): Prepared {
    if (outgoing.kind !== 'email') return { ok: false, rule: 'kind: this provider takes mails only' };
    const { reference, envelope } = outgoing;
    const refusal = refuseEnvelope(envelope);
    if (refusal !== null) return { ok: false, rule: refusal };
    const raw = outgoing.raw();
    if (raw.length > MAX_BYTES) return { ok: false, rule: `the mail is larger than ${MAX_BYTES} bytes` };
    const mail: SmtpMail = { reference, envelope, raw };
    return { ok: true, call: { hash: hashOf(mail), send: async (timeoutMs) => await this.#deliver(mail, timeoutMs) } };
  }

  async #deliver(mail: SmtpMail, timeoutMs: number): Promise<CallOutcome> {
    if (this.#closed) return CLOSED;
    const limit = Math.min(timeoutMs, this.#maxTimeoutMs);
    if (!(limit > 0)) return timedOut('connecting');
    const lane = this.#free.pop();
    if (lane === undefined) return await this.#deliverLater(mail, limit);
    return await this.#deliverBy(lane, mail, limit);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting) waiting.refuse(CLOSED);
    if (this.#free.length < this.#lanes.length) await this.#waitForLanes();
    for (const lane of this.#lanes) lane.close();
  }

  async #deliverBy(lane: SmtpLane, mail: SmtpMail, limit: number): Promise<CallOutcome> {
    return await new Promise((resolve) => {
      lane.start(mail, limit, resolve, () => this.#release(lane));
    });
  }

  async #deliverLater(mail: SmtpMail, limit: number): Promise<CallOutcome> {
    const deadline = performance.now() + limit;
    return await new Promise((resolve) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        run: (lane) => {
          leave();
          const left = Math.max(1, deadline - performance.now());
          lane.start(mail, left, resolve, () => this.#release(lane));
        },
        refuse: (result) => {
          leave();
          resolve(result);
        },
      };
      const timer = setTimeout(() => waiting.refuse(timedOut('connecting')), limit);
      this.#waiting.add(waiting);
    });
  }

  #release(lane: SmtpLane): void {
    const next = this.#waiting.values().next().value;
    if (next !== undefined) return next.run(lane);
    this.#free.push(lane);
    if (this.#free.length === this.#lanes.length) this.#drained?.();
  }

  async #waitForLanes(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const lane of this.#lanes) lane.close();
        resolve();
      }, CLOSE_GRACE_MS);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const CLOSED: CallOutcome = { kind: 'not-sent', code: 'closed', diagnostic: 'the provider is closed' };

/** What must never reach a command line, whoever made the address. */
function refuseEnvelope({ from, to }: SmtpMail['envelope']): string | null {
  const unsafe = /[\p{Cc}\p{Cs}<>]/u;
  if (unsafe.test(from)) return 'from: the sender is not an address';
  return to === '' || unsafe.test(to) ? 'to: the recipient is not an address' : null;
}

function hashOf({ envelope, raw }: SmtpMail): Buffer {
  return createHash('sha256').update(`${envelope.from}\0${envelope.to}\0`).update(raw).digest();
}

function accountOf({ host, port, auth }: SmtpConfig): string {
  const parts = ['smtp', host, port, auth?.user ?? null, auth?.password ?? null];
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);
}
