import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { errorCode, ServiceError } from '../../runtime/service-error.ts';
import { type Answer, MAX_ANSWER_BYTES } from './answer.ts';

/** What one call came to, judged by the transport alone. */
export type WireResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** No whole answer. `mayHaveLeft`: bytes of the request may have gone out; false is certain. */
  | { readonly kind: 'lost'; readonly mayHaveLeft: boolean; readonly code: string; readonly diagnostic: string };

export function lost(mayHaveLeft: boolean, code: string, diagnostic: string): WireResult {
  return { kind: 'lost', mayHaveLeft, code, diagnostic };
}

/**
 * Follows one request through undici. Between its queue and the first write undici calls `onRequestStart`, synchronously: what
 * ends before that has certainly not left, all that ends after it may have.
 */
export class HttpCall implements Dispatcher.DispatchHandler {
  readonly #done: (result: WireResult) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #over = false;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  readonly #chunks: Buffer[] = [];
  #size = 0;
  readonly #maxBytes: number;

  /** @param done Called once. */
  constructor(timeoutMs: number, done: (result: WireResult) => void, maxBytes = MAX_ANSWER_BYTES) {
    this.#done = done;
    this.#maxBytes = maxBytes;
    this.#timer = setTimeout(() => this.end('timeout', 'no answer in time'), timeoutMs);
  }

  get started(): boolean {
    return this.#controller !== null;
  }

  /** Ends the call with what is known of it; the socket is destroyed before that is told. */
  end(code: string, diagnostic: string): void {
    this.#settle(() => lost(this.started, code, diagnostic), true);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It ended while it waited, or the client begins it a second time: one try, and nothing after its end.
    if (this.#over || this.started) return controller.abort(new ServiceError('over', 'over', { retryable: false }));
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Also called for a 1xx that announces the answer, which then overwrites it.
    this.#status = status;
    this.#headers = singleValues(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.#maxBytes - this.#size;
    this.#chunks.push(chunk.subarray(0, room));
    this.#size += Math.min(room, chunk.length);
    if (chunk.length > room) this.#settle(() => this.#answer(false), true);
  }

  onResponseEnd(): void {
    this.#settle(() => this.#answer(true), false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const diagnostic = this.started ? 'the connection failed before the answer was whole' : 'no connection';
    this.#settle(() => lost(this.started, errorCode(error), diagnostic), false);
  }

  #answer(whole: boolean): WireResult {
    const answer = { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks), whole };
    return { kind: 'answer', answer };
  }

  #settle(result: () => WireResult, destroy: boolean): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    if (destroy) this.#controller?.abort(new ServiceError('over', 'over', { retryable: false }));
    this.#done(result());
  }
}

function singleValues(headers: IncomingHttpHeaders): Record<string, string> {
  const single = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(single);
}
