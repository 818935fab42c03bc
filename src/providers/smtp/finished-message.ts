import { Readable } from 'node:stream';

/**
 * The bytes of a message as a stream that knows whether anybody has asked for them. The SMTP client asks when, and only
 * when, the server has answered DATA with its go-ahead (354): before that the mail cannot have been accepted, after
 * it only the reply to the dot tells. Should a later release of the client read earlier, results become ambiguous
 * too often, never wrong.
 */
export class FinishedMessage extends Readable {
  readonly #raw: Buffer;
  #started = false;

  constructor(raw: Buffer) {
    super({ autoDestroy: false });
    this.#raw = raw;
  }

  get bodyStarted(): boolean {
    return this.#started;
  }

  /** The whole message in one write instead of a stream's rounds. */
  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    this.#started = true;
    destination.end(this.#raw);
    return destination;
  }

  override _read(): void {
    this.#started = true;
    this.push(this.#raw);
    this.push(null);
  }
}
