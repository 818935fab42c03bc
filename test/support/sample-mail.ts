import type { LookupQuery, MailParts, OutgoingMail } from '../../src/providers/provider.port.ts';

export const REFERENCE = '3f0f2d5e-3c0b-5a51-9d0e-2f6a0c9e8b7a';
export const RECIPIENT = 'jane@b.org';

/** A mail with all its parts. */
export function sampleMail(parts: Partial<MailParts> = {}, more: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    kind: 'email',
    reference: REFERENCE,
    envelope: { from: 'bounces@a.org', to: RECIPIENT },
    parts: {
      from: { name: 'News, "A"', address: 'news@a.org' },
      replyTo: { name: null, address: 'desk@a.org' },
      to: RECIPIENT,
      subject: 'Grüße',
      html: '<p>Hi</p>',
      text: 'Hi',
      headers: { 'X-B': '2', 'X-A': '1' },
      ...parts,
    },
    raw: () => Buffer.from('Subject: x\r\n\r\nHi\r\n'),
    about: {
      tenantId: 'acme',
      operationKey: 'order-17',
      payloadHash: `sha256:${'0'.repeat(64)}`,
      class: 'transactional',
      campaignId: null,
    },
    ...more,
  };
}

export function sampleQuery(query: Partial<LookupQuery> = {}): LookupQuery {
  return {
    reference: REFERENCE,
    recipient: RECIPIENT,
    subject: 'Grüße',
    since: new Date('2026-11-01T10:00:30Z'),
    ...query,
  };
}
