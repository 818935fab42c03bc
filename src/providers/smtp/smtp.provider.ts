import type { DeliveryResult, MailProvider, OutgoingMail } from '../provider.port.ts';
import { timedOut } from './classify.ts';
import type { SmtpConfig } from './smtp-config.ts';
import { SmtpLane } from './smtp-lane.ts';

/** Milliseconds that `close` leaves to deliveries in flight before it ends them (some as ambiguous). */
const CLOSE_GRACE_MS = 5000;

interface Waiting {
  readonly run: (lane: SmtpLane) => void;
  readonly refuse: (result: DeliveryResult) => void;
}

/** SMTP by one connection per delivery at once, each opened when first needed. One recipient per transaction. */
export function createSmtpProvider(config: SmtpConfig): MailProvider {
  return new SmtpProvider(config);
}

class SmtpProvider implements MailProvider {
  readonly name: string;
  readonly concurrency: number;
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
    this.#maxTimeoutMs = config.timeoutMs;
    this.#lanes = Array.from({ length: config.connections }, () => new SmtpLane(config));
    this.#free = [...this.#lanes];
  }

  async deliver(mail: OutgoingMail, timeoutMs: number): Promise<DeliveryResult> {
    if (this.#closed) return CLOSED;
    const refusal = refuseEnvelope(mail);
    if (refusal !== null) return refusal;
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

  async #deliverBy(lane: SmtpLane, mail: OutgoingMail, limit: number): Promise<DeliveryResult> {
    return await new Promise((resolve) => {
      lane.start(mail, limit, resolve, () => this.#release(lane));
    });
  }

  async #deliverLater(mail: OutgoingMail, limit: number): Promise<DeliveryResult> {
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

const CLOSED: DeliveryResult = { kind: 'not-sent', code: 'closed', diagnostic: 'the provider is closed' };

/** What must never reach a command line, whoever made the address. */
function refuseEnvelope({ envelope }: OutgoingMail): DeliveryResult | null {
  const unsafe = /[\p{Cc}\p{Cs}<>]/u;
  if (unsafe.test(envelope.from)) {
    return { kind: 'rejected', what: 'message', code: 'bad-sender', diagnostic: 'the sender is not an address' };
  }
  if (envelope.to === '' || unsafe.test(envelope.to)) {
    return {
      kind: 'rejected',
      what: 'recipient',
      code: 'bad-recipient',
      diagnostic: 'the recipient is not an address',
    };
  }
  return null;
}
