import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { classifyDatabaseError } from '../database/postgres-errors.ts';
import { loadStatement } from '../database/statement.ts';
import type { DataOf } from '../messaging/contracts/registry.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { CallOutcome, Mailbox, OutgoingMail } from '../providers/provider.port.ts';
import { errorCode, ServiceError } from '../runtime/service-error.ts';

interface DeliveryRow {
  readonly attempts: number;
  readonly deadline: Date | null;
  readonly lists: string[];
  readonly address_key: string;
}

const read = loadStatement<{ tenant: string; operation_id: string }, DeliveryRow>(import.meta.url, 'read-delivery.sql');

export type PublishDelivery = (provider: string, mail: OutgoingMail) => Promise<CallOutcome>;

/**
 * The call of a provider that is a peer on Kafka: its request goes into the outbox, and with the commit it is certain to be
 * published. The relay asks the suppression list once more before that.
 */
export function deliveryPublisher(dataSource: DataSource, events: EventWriter, limits: OutboxLimits): PublishDelivery {
  return async (provider, mail) => {
    try {
      const { tenantId } = mail.about;
      await inTransaction(dataSource, 'publish-delivery', async (tx) => {
        const [row] = await read.run(tx, { tenant: tenantId, operation_id: mail.reference });
        if (!row) throw new ServiceError('no-operation', 'the operation is not in the ledger', { retryable: false });
        await appendToOutbox(tx, [deliveryEntry(events, provider, mail, row)], limits);
      });
      return { kind: 'accepted', effectId: null, code: 'published', diagnostic: 'in the outbox for the peer' };
    } catch (error) {
      return notPublished(error);
    }
  };
}

/** Only a lost connection leaves open whether the commit was reached. */
function notPublished(error: unknown): CallOutcome {
  const said = { code: errorCode(error), diagnostic: 'the outbox did not take it' };
  if (error instanceof ServiceError && !error.retryable) return { kind: 'rejected', what: 'message', ...said };
  return classifyDatabaseError(error) === 'away' ? { kind: 'ambiguous', ...said } : { kind: 'not-sent', ...said };
}

function deliveryEntry(events: EventWriter, provider: string, mail: OutgoingMail, row: DeliveryRow): OutboxEntry {
  const { about, parts } = mail;
  const origin = { tenantId: about.tenantId };
  const { operationKey, payloadHash, campaignId } = about;
  const data: DataOf<'einmal.delivery.requested.v1'> = {
    operationId: mail.reference,
    operationKey,
    payloadHash,
    provider,
    attempt: row.attempts,
    class: about.class,
    ...(campaignId === null ? {} : { campaignId }),
    ...(row.deadline === null ? {} : { deadline: row.deadline.toISOString() }),
    to: parts.to,
    from: textOf(parts.from),
    ...(parts.replyTo === null ? {} : { replyTo: textOf(parts.replyTo) }),
    subject: parts.subject,
    ...(parts.html === null ? {} : { html: parts.html }),
    text: parts.text,
    headers: { ...parts.headers },
  };
  const instead = events.write('einmal.operation.suppressed.v1', origin, {
    operationKey,
    operationId: mail.reference,
    state: 'suppressed',
    payloadHash,
    attempt: row.attempts,
    ...(campaignId === null ? {} : { campaignId }),
    reason: 'suppressed before it was published',
  });
  return {
    ...events.write('einmal.delivery.requested.v1', origin, data),
    recipient: {
      tenantId: about.tenantId,
      addressKey: row.address_key,
      class: about.class,
      lists: row.lists,
      instead,
    },
  };
}

function textOf({ name, address }: Mailbox): string {
  return name === null ? address : `"${name.replaceAll(/["\\]/g, '\\$&')}" <${address}>`;
}
