import type { Provider } from '../../src/providers/provider.port.ts';
import type { Found, Verdict } from '../../src/providers/verdict.ts';
import type { Answer } from '../../src/providers/wire/answer.ts';
import type { AnsweringServer } from './answering-server.ts';
import { sampleMail, sampleQuery } from './sample-mail.ts';

/** An answer as an adapter gets it: a text as it is, anything else as JSON. */
export function answerOf(status: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers, body: Buffer.from(text), whole: true };
}

/** A verdict in one line, for tables: `accepted id-1`, `rejected message`, `throttled 7000`. */
export function verdictLine(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'accepted':
      return `accepted ${verdict.effectId}`;
    case 'rejected':
      return `rejected ${verdict.what}`;
    case 'throttled':
      return `throttled ${verdict.retryAfterMs}`;
    case 'not-sent':
    case 'suppressed':
    case 'account':
    case 'ambiguous':
    case 'duplicate':
    case 'concurrent':
    case 'key-mismatch':
      return verdict.kind;
  }
}

/** What a look-up found in one line: `delivered id-1`, `miss`, `nothing said`. */
export function foundLine(found: Found | undefined): string {
  if (found === undefined) return 'nothing said';
  return found === 'miss' ? 'miss' : `${found.state} ${found.effectId}`;
}

/** Sends the sample mail and gives the body that arrived, as text. */
export async function bodyOf(provider: Provider, server: AnsweringServer, mail = sampleMail()): Promise<string> {
  const prepared = provider.prepare(mail, provider.shape);
  if (!prepared.ok) throw new Error(prepared.rule);
  await prepared.call.send(20_000);
  return server.seen.at(-1)?.body ?? '';
}

/** Looks the sample mail up and gives the path and query that arrived. */
export async function askedOf(provider: Provider, server: AnsweringServer, query = sampleQuery()): Promise<URL> {
  await provider.lookup?.(query, 20_000);
  return new URL(server.seen.at(-1)?.url ?? '/', 'http://x');
}
