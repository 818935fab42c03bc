import { Pool } from 'undici';
import { guardedConnector } from './guarded-connector.ts';
import { HttpCall, lost, type WireResult } from './http-call.ts';
import type { WireRequest } from './wire-request.ts';

const CLOSE_GRACE_MS = 5000;

/**
 * Milliseconds that a connection may wait for its next request. A server that closes it in the moment of a request makes that
 * one ambiguous, so this is below the 5 s that the most impatient of the usual servers allow.
 */
const IDLE_LIMIT_MS = 3000;

export interface HttpWireOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Connections, and so calls, at once; more wait within their own time. */
  readonly connections: number;
  /** Milliseconds; upper bound of one call, whatever the caller asks for. */
  readonly timeoutMs: number;
  /** Whether the host may be in a private network or on this machine. */
  readonly allowPrivate: boolean;
  /** Milliseconds that `close` leaves to calls in flight before it ends them (some as ambiguous). Default 5000. */
  readonly closeGraceMs?: number;
}

/** Calls to one host: one try each, no redirects, no pipelining, one clock. */
export class HttpWire {
  readonly #pool: Pool;
  readonly #maxTimeoutMs: number;
  readonly #closeGraceMs: number;
  readonly #calls = new Set<HttpCall>();
  #closed: Promise<void> | null = null;
  #drained: (() => void) | null = null;

  constructor({ origin, connections, timeoutMs, allowPrivate, closeGraceMs }: HttpWireOptions) {
    this.#closeGraceMs = closeGraceMs ?? CLOSE_GRACE_MS;
    this.#maxTimeoutMs = timeoutMs;
    this.#pool = new Pool(origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: IDLE_LIMIT_MS,
      keepAliveMaxTimeout: IDLE_LIMIT_MS,
      // The call's own timer is the one clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: guardedConnector({ timeoutMs, allowPrivate }),
    });
  }

  /**
   * Never throws. After `timeoutMs`, waiting for a connection included, the socket is destroyed and then the result told.
   *
   * @param maxBytes how much of the answer's body is read; MAX_ANSWER_BYTES unless told
   */
  async call({ method, path, headers, body }: WireRequest, timeoutMs: number, maxBytes?: number): Promise<WireResult> {
    if (this.#closed !== null) return CLOSED;
    const limit = Math.min(timeoutMs, this.#maxTimeoutMs);
    if (!(limit > 0)) return lost(false, 'timeout', 'no time for the call');
    return await new Promise((resolve) => {
      const call = new HttpCall(
        limit,
        (result) => {
          this.#calls.delete(call);
          if (this.#calls.size === 0) this.#drained?.();
          resolve(result);
        },
        maxBytes,
      );
      this.#calls.add(call);
      this.#pool.dispatch({ method, path, headers: { ...headers }, body }, call);
    });
  }

  /** Refuses what waits, leaves a few seconds to what is under way, and ends that then. */
  async close(): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    for (const call of this.#calls) if (!call.started) call.end('closed', 'the provider was closed');
    if (this.#calls.size > 0) await this.#waitForCalls();
    await this.#pool.destroy();
  }

  async #waitForCalls(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const call of this.#calls) call.end('closed', 'the provider was closed');
      }, this.#closeGraceMs);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const CLOSED = lost(false, 'closed', 'the provider is closed');
