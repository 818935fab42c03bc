import { expect, vi } from 'vitest';
import type { CallOutcome, Outgoing, Provider } from '../../../src/providers/provider.port.ts';
import type { SmtpConfig } from '../../../src/providers/smtp/smtp-config.ts';
import { createSmtpProvider } from '../../../src/providers/smtp/smtp.provider.ts';
import { spawnSmtpSink, type SmtpSink, type SmtpSinkOptions } from './smtp-sink.ts';

export const PATIENT_MS = 20_000;
/** Only for what stalls for ever: the result does not depend on how long it is. */
export const IMPATIENT_MS = 150;

const sinks: SmtpSink[] = [];
const providers: Provider[] = [];

export async function sinkWith(options: SmtpSinkOptions): Promise<SmtpSink> {
  const sink = await spawnSmtpSink(options);
  sinks.push(sink);
  return sink;
}

export function providerFor(server: Pick<SmtpSink, 'host' | 'port'>, change: Partial<SmtpConfig> = {}): Provider {
  const { host, port } = server;
  const config = { name: 'sink', host, port, security: 'none', connections: 1, timeoutMs: 60_000 } as const;
  const provider = createSmtpProvider({ ...config, ...change });
  providers.push(provider);
  return provider;
}

/** For `afterEach`. */
export async function closeProviders(): Promise<void> {
  await Promise.all(providers.splice(0).map(async (provider) => await provider.close()));
}

/** For `afterAll`. */
export async function stopSinks(): Promise<void> {
  await Promise.all(sinks.splice(0).map(async (sink) => await sink.stop()));
}

/** @param n Number in Message-ID and reference. The body has lines that begin with dots. */
export function mailTo(to: string, n = 1): TestMail {
  const raw = `From: news@b.org\r\nTo: ${to}\r\nMessage-ID: <${n}@b.org>\r\nSubject: x\r\n\r\n.dot\r\n..\r\nend\r\n`;
  return { reference: `op-${n}`, envelope: { from: 'news@b.org', to }, raw: Buffer.from(raw) };
}

export interface TestMail {
  readonly reference: string;
  readonly envelope: { readonly from: string; readonly to: string };
  readonly raw: Buffer;
}

/** Prepares and makes one call; what can never be carried out is a rejection. */
export async function deliver(provider: Provider, mail: TestMail, timeoutMs: number): Promise<CallOutcome> {
  const prepared = provider.prepare(outgoingOf(mail), provider.shape);
  if (prepared.ok) return await prepared.call.send(timeoutMs);
  const what = prepared.rule.startsWith('to:') ? 'recipient' : 'message';
  return { kind: 'rejected', what, code: 'not-prepared', diagnostic: prepared.rule };
}

function outgoingOf({ reference, envelope, raw }: TestMail): Outgoing {
  return {
    kind: 'email',
    reference,
    envelope,
    raw: () => raw,
    parts: {
      from: { name: null, address: envelope.from },
      replyTo: null,
      to: envelope.to,
      subject: 'x',
      html: null,
      text: 'x',
      headers: {},
    },
    about: { tenantId: 'demo', operationKey: reference, payloadHash: '', class: 'transactional', campaignId: null },
  };
}

export function kindOf(result: CallOutcome): string {
  return result.kind === 'rejected' ? `rejected ${result.what}` : result.kind;
}

/** What the sink has seen once every connection is closed. */
export async function settledStats(sink: SmtpSink): Promise<Awaited<ReturnType<SmtpSink['stats']>>> {
  return await vi.waitFor(
    async () => {
      const stats = await sink.stats();
      expect(stats.openConnections).toBe(0);
      return stats;
    },
    { timeout: 10_000, interval: 10 },
  );
}
