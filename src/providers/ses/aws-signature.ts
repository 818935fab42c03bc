import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { WireRequest } from '../wire/wire-request.ts';

/** What SignatureV4 asks of a hash, done by Node's own. */
class Sha256 {
  readonly #secret: Uint8Array | string | null;
  #hash: Hash | Hmac;

  constructor(secret?: Uint8Array | ArrayBuffer | ArrayBufferView | string) {
    this.#secret = secret === undefined ? null : bytesOrText(secret);
    this.#hash = this.#fresh();
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return await Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = this.#fresh();
  }

  #fresh(): Hash | Hmac {
    return this.#secret === null ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

function bytesOrText(secret: Uint8Array | ArrayBuffer | ArrayBufferView | string): Uint8Array | string {
  if (typeof secret === 'string' || secret instanceof Uint8Array) return secret;
  if (secret instanceof ArrayBuffer) return new Uint8Array(secret);
  return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength);
}

export interface AwsCredential {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Signature Version 4 of requests to SES. */
export function awsSigner(region: string, credential: AwsCredential, baseUrl: string) {
  const { protocol, host, hostname, port } = new URL(baseUrl);
  const signer = new SignatureV4({ service: 'ses', region, credentials: { ...credential }, sha256: Sha256 });
  /** The headers to add; they hold the moment, so they are made for each call. */
  return async (request: WireRequest, now: Date = new Date()): Promise<Readonly<Record<string, string>>> => {
    const { headers } = await signer.sign(
      {
        method: request.method,
        protocol,
        hostname,
        ...(port === '' ? {} : { port: Number(port) }),
        path: request.path,
        query: {},
        headers: { ...request.headers, host },
        body: request.body ?? undefined,
      },
      { signingDate: now },
    );
    const added = Object.entries(headers).filter(([name]) => !Object.hasOwn(request.headers, name) && name !== 'host');
    return Object.fromEntries(added);
  };
}
