import type { ProviderConfig, ProviderConfigOf } from '../config/einmal-config.ts';
import { createBrevoProvider } from './brevo/brevo.provider.ts';
import { createHttpProvider } from './http/http.provider.ts';
import { createKafkaPeer, type PublishDelivery } from './kafka/kafka-peer.ts';
import { createMailersendProvider } from './mailersend/mailersend.provider.ts';
import { createMailgunProvider } from './mailgun/mailgun.provider.ts';
import { createMailjetProvider } from './mailjet/mailjet.provider.ts';
import { createPostmarkProvider } from './postmark/postmark.provider.ts';
import type { Provider } from './provider.port.ts';
import { createResendProvider } from './resend/resend.provider.ts';
import { createSendgridProvider } from './sendgrid/sendgrid.provider.ts';
import { createSesProvider } from './ses/ses.provider.ts';
import { createSmtpProvider } from './smtp/smtp.provider.ts';
import { createSparkpostProvider } from './sparkpost/sparkpost.provider.ts';

/** What providers need of the rest of the process. */
export interface ProviderParts {
  readonly publishDelivery: PublishDelivery;
}

/** The provider that a configuration describes. It opens no connection before its first call. */
export function createProvider(config: ProviderConfig, { publishDelivery }: ProviderParts): Provider {
  switch (config.kind) {
    case 'smtp':
      return smtp(config);
    case 'ses':
      return createSesProvider(config);
    case 'sendgrid':
      return createSendgridProvider(config);
    case 'postmark':
      return createPostmarkProvider(config);
    case 'mailgun':
      return createMailgunProvider(config);
    case 'resend':
      return createResendProvider(config);
    case 'brevo':
      return createBrevoProvider(config);
    case 'mailjet':
      return createMailjetProvider(config);
    case 'sparkpost':
      return createSparkpostProvider(config);
    case 'mailersend':
      return createMailersendProvider(config);
    case 'http':
      return createHttpProvider(config);
    case 'kafka':
      return createKafkaPeer(config, publishDelivery);
  }
}

function smtp(config: ProviderConfigOf<'smtp'>): Provider {
  const { providerName, host, port, security, auth, connections, timeoutSeconds, receiptWaitSeconds, name } = config;
  return createSmtpProvider({
    name: providerName,
    host,
    port,
    security,
    connections,
    timeoutMs: timeoutSeconds * 1000,
    receiptWaitMs: receiptWaitSeconds * 1000,
    ...(auth === null ? {} : { auth }),
    ...(name === null ? {} : { ehloName: name }),
  });
}
