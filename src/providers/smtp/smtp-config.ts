import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';

export interface SmtpConfig {
  /** Name of the provider in configuration, metrics and records. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `starttls` refuses servers without it, `tls` encrypts from the first byte, `none` never encrypts. */
  readonly security: 'starttls' | 'tls' | 'none';
  readonly auth?: { readonly user: string; readonly password: string };
  /** Connections, and so deliveries, at once. */
  readonly connections: number;
  /** Milliseconds; upper bound of one delivery, whatever the caller asks for. */
  readonly timeoutMs: number;
  /** Milliseconds after which a bounce is no longer expected. */
  readonly receiptWaitMs?: number;
  /** Name given with EHLO; the machine's host name when absent. */
  readonly ehloName?: string;
  /** false accepts any certificate: for tests only. */
  readonly tlsRejectUnauthorized?: boolean;
}

/** One transaction: one recipient, one finished message. */
export interface SmtpMail {
  readonly reference: string;
  readonly envelope: { readonly from: string; readonly to: string };
  readonly raw: Buffer;
}

/** Milliseconds that a connection may wait for its next mail: below the 5 minutes of RFC 5321 4.5.3.2.7. */
export const IDLE_LIMIT_MS = 60_000;

/** Every timer of the client is set behind ours, so that there is one clock that ends a delivery. */
export function connectionOptions(config: SmtpConfig): SMTPConnectionOptions {
  const behindOurs = config.timeoutMs + 5000;
  return {
    host: config.host,
    port: config.port,
    secure: config.security === 'tls',
    requireTLS: config.security === 'starttls',
    ignoreTLS: config.security === 'none',
    tls: { rejectUnauthorized: config.tlsRejectUnauthorized ?? true },
    ...(config.ehloName === undefined ? {} : { name: config.ehloName }),
    connectionTimeout: behindOurs,
    greetingTimeout: behindOurs,
    dnsTimeout: behindOurs,
    socketTimeout: behindOurs + IDLE_LIMIT_MS,
    // close() then destroys the socket: nothing that was written but not sent follows.
    socketCloseTimeout: 0,
    logger: false,
  };
}
