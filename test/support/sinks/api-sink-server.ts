import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, serve, type ApiSinkContext } from './api-sink-exchange.ts';
import type { ApiRule } from './api-sink-script.ts';

export interface ApiServers {
  readonly apiUrl: string;
  readonly apiControlUrl: string;
}

/** Listens for clients and for the judge, on two ports of the loopback. */
export async function startApiServers(port: number, controlPort: number): Promise<ApiServers> {
  const context = createContext();
  const api = createServer((request, response) => {
    serve(context, request, response).catch((error: unknown) => {
      // A fault of the sink itself must be seen, and not as one of the client's.
      console.error(error);
      response.socket?.destroy();
    });
  });
  api.keepAliveTimeout = 60_000;
  const control = createServer((request, response) => {
    answer(context, request, response).catch((error: unknown) => {
      response.writeHead(400).end(JSON.stringify({ error: String(error) }));
    });
  });
  await Promise.all([listen(api, port), listen(control, controlPort)]);
  return { apiUrl: urlOf(api), apiControlUrl: urlOf(control) };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', 4096, resolve);
  });
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** GET /stats /counts /references /effects /strays (`?dialect=`), POST /script /release /reset. All JSON. */
async function answer(context: ApiSinkContext, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sink');
  const body =
    request.method === 'POST'
      ? change(context, url.pathname, JSON.parse(await bodyOf(request)))
      : read(context, url.pathname, url.searchParams.get('dialect'));
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? { error: 'no such path' }));
}

function read({ ledger, stalled }: ApiSinkContext, path: string, dialect: string | null): unknown {
  switch (path) {
    case '/stats': {
      const waiting = [...stalled].filter((one) => dialect === null || one.dialect === dialect);
      return { ...ledger.stats(dialect), stalled: waiting.length };
    }
    case '/counts': {
      const references = Object.entries(ledger.references(dialect));
      return Object.fromEntries(references.map(([reference, { effects }]) => [reference, effects]));
    }
    case '/references':
      return ledger.references(dialect);
    case '/effects':
      return ledger.effects.filter((effect) => dialect === null || effect.dialect === dialect);
    case '/strays':
      return ledger.strays;
    default:
      return undefined;
  }
}

function change(context: ApiSinkContext, path: string, body: unknown): unknown {
  switch (path) {
    case '/reset':
      context.ledger.reset();
      context.script.clear();
      context.keys.clear();
      return {};
    case '/release': {
      const { dialect } = body as { dialect: string | null };
      const waiting = [...context.stalled].filter((one) => dialect === null || one.dialect === dialect);
      for (const one of waiting) {
        context.stalled.delete(one);
        one.goOn();
      }
      return { released: waiting.length };
    }
    case '/script': {
      const { dialect, rules } = body as { dialect: string; rules: ApiRule[] };
      context.script.set(dialect, rules);
      return {};
    }
    default:
      return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
