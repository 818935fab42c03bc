import { hash } from 'node:crypto';

export interface SinkArrival {
  readonly recipient: string;
  readonly messageId: string;
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
}
export interface SinkStats {
  readonly connections: number;
  readonly openConnections: number;
  /** MAIL commands, 354 answers, final dots: what the client tried. */
  readonly transactions: number;
  readonly goAheads: number;
  readonly dots: number;
  /** Mails counted as accepted, with copies. */
  readonly accepted: number;
  readonly distinct: number;
  /** Message-IDs accepted more than once. */
  readonly doubled: number;
  readonly bytes: number;
  /** Milliseconds since 1970; null before the first mail. */
  readonly firstAcceptedAt: number | null;
  readonly lastAcceptedAt: number | null;
}

const MAX_ARRIVALS = 500_000;
const MESSAGE_ID = /^message-id:[ \t]*(?:\r\n[ \t]+)?(<[^>\r\n]*>)/im;

/** What the sink accepted, per Message-ID and per recipient. A mail without Message-ID counts under `(none)`. */
export class SinkLedger {
  connections = 0;
  openConnections = 0;
  transactions = 0;
  goAheads = 0;
  dots = 0;
  #accepted = 0;
  #doubled = 0;
  #bytes = 0;
  #first: number | null = null;
  #last: number | null = null;
  readonly #byMessageId = new Map<string, { n: number; hashes: string[] }>();
  readonly #byRecipient = new Map<string, number>();
  readonly #raws = new Map<string, Buffer>();
  readonly arrivals: SinkArrival[] = [];
  readonly #recordArrivals: boolean;
  readonly #keepRaw: number;

  constructor(recordArrivals: boolean, keepRaw: number) {
    this.#recordArrivals = recordArrivals;
    this.#keepRaw = keepRaw;
  }

  /** @param raw The message as it was sent, dots unstuffed. */
  accept(recipient: string, raw: Buffer): void {
    const messageId = messageIdOf(raw);
    const at = performance.timeOrigin + performance.now();
    this.#countMessage(messageId, hash('sha256', raw, 'hex'));
    this.#byRecipient.set(recipient, (this.#byRecipient.get(recipient) ?? 0) + 1);
    this.#accepted += 1;
    this.#bytes += raw.length;
    this.#first ??= at;
    this.#last = at;
    if (this.#recordArrivals && this.arrivals.length < MAX_ARRIVALS) this.arrivals.push({ recipient, messageId, at });
    if (this.#keepRaw > 0) this.#keep(messageId, raw);
  }

  stats(): SinkStats {
    const { connections, openConnections, transactions, goAheads, dots } = this;
    const tried = { connections, openConnections, transactions, goAheads, dots };
    const counted = {
      accepted: this.#accepted,
      distinct: this.#byMessageId.size,
      doubled: this.#doubled,
      bytes: this.#bytes,
    };
    return { ...tried, ...counted, firstAcceptedAt: this.#first, lastAcceptedAt: this.#last };
  }

  counts(): Record<string, number> {
    return Object.fromEntries([...this.#byMessageId].map(([id, { n }]) => [id, n]));
  }

  recipients(): Record<string, number> {
    return Object.fromEntries(this.#byRecipient);
  }

  /** Distinct SHA-256 of the bytes, in the order seen: more than one means that attempts differed. */
  hashes(): Record<string, readonly string[]> {
    return Object.fromEntries([...this.#byMessageId].map(([id, { hashes }]) => [id, hashes]));
  }

  raw(messageId: string): Buffer | undefined {
    return this.#raws.get(messageId);
  }

  reset(): void {
    this.transactions = this.goAheads = this.dots = 0;
    this.#accepted = this.#doubled = this.#bytes = 0;
    this.#first = this.#last = null;
    this.#byMessageId.clear();
    this.#byRecipient.clear();
    this.#raws.clear();
    this.arrivals.length = 0;
  }

  #countMessage(messageId: string, digest: string): void {
    const known = this.#byMessageId.get(messageId);
    if (known === undefined) {
      this.#byMessageId.set(messageId, { n: 1, hashes: [digest] });
      return;
    }
    known.n += 1;
    if (known.n === 2) this.#doubled += 1;
    if (!known.hashes.includes(digest)) known.hashes.push(digest);
  }

  #keep(messageId: string, raw: Buffer): void {
    this.#raws.set(messageId, Buffer.from(raw));
    if (this.#raws.size <= this.#keepRaw) return;
    const oldest = this.#raws.keys().next().value;
    if (oldest !== undefined) this.#raws.delete(oldest);
  }
}

function messageIdOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  return MESSAGE_ID.exec(raw.toString('latin1', 0, end < 0 ? raw.length : end))?.[1] ?? '(none)';
}
