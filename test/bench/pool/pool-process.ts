// nodemailer's pool alone: mails that are finished before the first is sent. Started by the campaign pair.
import { createTransport } from 'nodemailer';
import { compileMail, type MailFilling } from '../../../src/mail/compile-mail.ts';
import { mailIdentity } from '../../../src/mail/mail-identity.ts';
import { subscriberOf, type Revision } from '../../support/campaign.ts';
import { operationId } from '../../../src/operations/operation-id.ts';

export interface PoolSettings {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
}

interface PoolTask {
  readonly revision: Revision;
  readonly count: number;
}

interface FinishedMail {
  readonly envelope: { readonly from: string; readonly to: string };
  readonly raw: Buffer;
}

const { host, port, connections } = JSON.parse(process.argv[2] ?? '{}') as PoolSettings;
const transport = createTransport({
  pool: true,
  host,
  port,
  secure: false,
  ignoreTLS: true,
  maxConnections: connections,
  maxMessages: Number.POSITIVE_INFINITY,
});

process.on('message', (task: PoolTask) => {
  void sendAll(finishedMails(task)).then(() => process.send?.('sent'));
});
process.once('SIGTERM', () => {
  transport.close();
  process.exit(0);
});
// Also when the benchmark itself was ended.
process.once('disconnect', () => process.exit(0));
process.send?.('ready');

/** Twice as many handed over as there are connections: each finds its next mail waiting. */
async function sendAll(mails: readonly FinishedMail[]): Promise<void> {
  const queue = mails.values();
  const senders = Array.from({ length: connections * 2 }, async () => {
    for (const mail of queue) await transport.sendMail({ envelope: { ...mail.envelope }, raw: mail.raw });
  });
  await Promise.all(senders);
}

/** The bytes that a campaign of this revision sends. */
function finishedMails({ revision, count }: PoolTask): FinishedMail[] {
  const { from, subject, html } = revision;
  const compiled = compileMail({ from, subject, html });
  if (!compiled.ok) throw new Error(`the benchmark's mail cannot be compiled: ${compiled.rule}`);
  const template = compiled.mail;
  const date = new Date();
  return Array.from({ length: count }, (_, index) => {
    const subscriber = subscriberOf(index);
    const identity = mailIdentity(operationId('pool', String(index)), 'einmal.example');
    const data = { subscriber, campaign: { id: revision.campaignId } };
    const filling: MailFilling = { to: subscriber.email, ...identity, date, data };
    const filled = template.fill(filling);
    if (!filled.ok) throw new Error(`the benchmark's mail cannot be filled: ${filled.rule}`);
    return { envelope: { from: template.from, to: subscriber.email }, raw: filled.raw() };
  });
}
