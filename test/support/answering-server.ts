import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface GivenAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text as it is, anything else as JSON; nothing when absent. */
  readonly body?: unknown;
}

export interface AnsweringServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** What every later request is answered with. */
  answer(with_: GivenAnswer): void;
}

/** An HTTP server that keeps what it is asked and answers as told: for one spec, in its own process. */
export async function startAnsweringServer(first: GivenAnswer = { status: 200 }): Promise<AnsweringServer> {
  let given = first;
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(given.status, { ...given.headers });
      response.end(textOf(given.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    answer: (next) => {
      given = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function textOf(body: unknown): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}
