import { createHash } from 'node:crypto';
import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import { canonicalJson } from '../../runtime/canonical-json.ts';
import { errorCode } from '../../runtime/service-error.ts';
import type { Abilities } from '../abilities.ts';
import { receiptAbility } from '../mail-api.ts';
import type { CallOutcome, Outgoing, OutgoingMail, Prepared, Provider } from '../provider.port.ts';
import { accountOf } from '../wired-provider.ts';

/** Publishes a delivery for the peer under its reference; accepted once it is certain to get out. Must not throw. */
export type PublishDelivery = (delivery: OutgoingMail, timeoutMs: number) => Promise<CallOutcome>;

type End = (code: string, diagnostic: string) => void;

/** Milliseconds that `close` leaves to what is being published. */
const CLOSE_GRACE_MS = 5000;
const DAY_MS = 86_400_000;
/** A part of the window for the way through outbox and topic. */
const MARGIN_MS = DAY_MS / 24;
/** Kafka's usual limit of a record, with room for its envelope. */
const MAX_BYTES = 1_000_000;

/** A peer that reads deliveries from a topic. The reference is its key: the same one is the same delivery. */
export function createKafkaPeer(config: ProviderConfigOf<'kafka'>, publish: PublishDelivery): Provider {
  return new KafkaPeer(config, publish);
}

class KafkaPeer implements Provider {
  readonly name: string;
  readonly abilities: Abilities;
  readonly concurrency: number;
  readonly account: string;
  readonly shape = null;
  readonly #publish: PublishDelivery;
  readonly #maxTimeoutMs: number;
  /** Ends a call with what is known of it. */
  readonly #underWay = new Set<End>();
  #closed: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor(config: ProviderConfigOf<'kafka'>, publish: PublishDelivery) {
    this.name = config.providerName;
    this.concurrency = config.connections;
    this.account = accountOf('kafka', '', [config.providerName]);
    this.abilities = {
      key: {
        kind: 'replay',
        windowMs: config.windowDays * DAY_MS,
        marginMs: MARGIN_MS,
        comparesPayload: false,
        scope: 'request',
      },
      lookup: { kind: 'none' },
      receipt: receiptAbility(config.receiptWaitSeconds),
      batch: { kind: 'none' },
      limits: { maxBytes: MAX_BYTES },
    };
    this.#publish = publish;
    this.#maxTimeoutMs = config.timeoutSeconds * 1000;
  }

  prepare(outgoing: Outgoing): Prepared {
    if (outgoing.kind !== 'email') return { ok: false, rule: 'kind: this provider takes mails only' };
    const { reference, envelope, parts, about } = outgoing;
    const text = canonicalJson({ reference, envelope, parts, about }, 'escape');
    const size = Buffer.byteLength(text);
    if (size > MAX_BYTES) return { ok: false, rule: `size: larger than ${MAX_BYTES} bytes` };
    const hash = createHash('sha256').update(text).digest();
    return { ok: true, call: { hash, send: async (timeoutMs) => await this.#send(outgoing, timeoutMs) } };
  }

  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#underWay.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const end of this.#underWay) end('closed', 'the provider was closed');
      }, CLOSE_GRACE_MS);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #send(delivery: OutgoingMail, timeoutMs: number): Promise<CallOutcome> {
    if (this.#closed !== null) return { kind: 'not-sent', code: 'closed', diagnostic: 'the provider is closed' };
    const limit = Math.min(timeoutMs, this.#maxTimeoutMs);
    if (!(limit > 0)) return { kind: 'not-sent', code: 'timeout', diagnostic: 'no time for the call' };
    return await new Promise((resolve) => {
      const settle = (outcome: CallOutcome): void => {
        clearTimeout(timer);
        this.#underWay.delete(end);
        if (this.#underWay.size === 0) this.#drained?.();
        resolve(outcome);
      };
      // A commit whose answer got lost may stand.
      const end: End = (code, diagnostic) => settle({ kind: 'ambiguous', code, diagnostic });
      const timer = setTimeout(end, limit, 'timeout', 'not published in time');
      this.#underWay.add(end);
      this.#publish(delivery, limit).then(settle, (error: unknown) => end(errorCode(error), 'publishing failed'));
    });
  }
}
