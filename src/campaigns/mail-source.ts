import type { MailSource } from '../mail/compile-mail.ts';
import type { DataOf } from '../messaging/contracts/registry.ts';

type Content = Omit<DataOf<'einmal.campaign.revision-submitted.v1'>, 'campaignId' | 'revision'>;

/** What a mail is made of, out of a revision's content. */
export function mailSourceOf(content: Content): MailSource {
  return {
    from: content.from,
    subject: content.subject,
    html: content.html,
    ...(content.replyTo === undefined ? {} : { replyTo: content.replyTo }),
    ...(content.text === undefined ? {} : { text: content.text }),
  };
}
