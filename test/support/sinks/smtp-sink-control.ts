import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { SinkContext } from './smtp-sink-session.ts';
import type { SinkRule } from './smtp-sink-script.ts';

/** HTTP: GET /stats /counts /recipients /hashes /arrivals /raw?messageId=, POST /reset /release /script. JSON but for raw. */
export function createControlServer(context: SinkContext): Server {
  return createServer((request, response) => {
    answer(context, request, response).catch((error: unknown) => {
      response.writeHead(400).end(JSON.stringify({ error: String(error) }));
    });
  });
}

async function answer(context: SinkContext, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sink');
  if (url.pathname === '/raw') {
    const raw = context.ledger.raw(url.searchParams.get('messageId') ?? '');
    response.writeHead(raw === undefined ? 404 : 200, { 'content-type': 'message/rfc822' }).end(raw);
    return;
  }
  const body =
    request.method === 'POST' ? change(context, url.pathname, await bodyOf(request)) : read(context, url.pathname);
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? { error: 'no such path' }));
}

function read(context: SinkContext, path: string): unknown {
  switch (path) {
    case '/stats':
      return { ...context.ledger.stats(), stalled: context.stalled.size };
    case '/counts':
      return context.ledger.counts();
    case '/recipients':
      return context.ledger.recipients();
    case '/hashes':
      return context.ledger.hashes();
    case '/arrivals':
      return context.ledger.arrivals;
    default:
      return undefined;
  }
}

function change(context: SinkContext, path: string, body: string): unknown {
  switch (path) {
    case '/reset':
      context.ledger.reset();
      context.script.set([]);
      return {};
    case '/release': {
      const waiting = [...context.stalled];
      context.stalled.clear();
      for (const goOn of waiting) goOn();
      return { released: waiting.length };
    }
    case '/script': {
      const { rules, seed } = JSON.parse(body) as { rules: SinkRule[]; seed?: number };
      context.script.set(rules, seed);
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
