import { expect, vi } from 'vitest';
import type { DeliveryResult, MailProvider, OutgoingMail } from '../../../src/providers/provider.port.ts';
import type { SmtpConfig } from '../../../src/providers/smtp/smtp-config.ts';
import { createSmtpProvider } from '../../../src/providers/smtp/smtp.provider.ts';
import { spawnSmtpSink, type SmtpSink, type SmtpSinkOptions } from './smtp-sink.ts';

export const PATIENT_MS = 20_000;
/** Only for what stalls for ever: the result does not depend on how long it is. */
export const IMPATIENT_MS = 150;

const sinks: SmtpSink[] = [];
const providers: MailProvider[] = [];

export async function sinkWith(options: SmtpSinkOptions): Promise<SmtpSink> {
  const sink = await spawnSmtpSink(options);
  sinks.push(sink);
  return sink;
}

export function providerFor(server: Pick<SmtpSink, 'host' | 'port'>, change: Partial<SmtpConfig> = {}): MailProvider {
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
export function mailTo(to: string, n = 1): OutgoingMail {
  const raw = `From: news@b.org\r\nTo: ${to}\r\nMessage-ID: <${n}@b.org>\r\nSubject: x\r\n\r\n.dot\r\n..\r\nend\r\n`;
  return { reference: `op-${n}`, envelope: { from: 'news@b.org', to }, raw: Buffer.from(raw) };
}

export function kindOf(result: DeliveryResult): string {
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
