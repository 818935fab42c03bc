import type { OutgoingHttp, OutgoingMail } from '../../src/providers/provider.port.ts';

const SUBJECT = 'Grüße aus Zürich, 50 % off "today"';

/** An awkward mail that differs from another only by reference and variant. */
export function mailOf(reference: string, variant: string): OutgoingMail {
  const to = recipientOf(reference);
  const text = `.a line that begins with a dot\nHello ${variant}, here is https://einmal.example/?a=1&b=2\n`;
  const html = `<p>Hello <b>${variant}</b> &amp; co, <a href="https://einmal.example/?a=1&amp;b=2">here</a></p>`;
  const encoded = `=?UTF-8?B?${Buffer.from(SUBJECT).toString('base64')}?=`;
  const head = [
    'From: Einmal News <news@einmal.example>',
    `To: ${to}`,
    `Message-ID: <${reference}@einmal.example>`,
    `Subject: ${encoded}`,
    'Date: Sun, 29 Nov 2026 18:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ];
  const raw = Buffer.from(`${head.join('\r\n')}\r\n\r\n${text.replaceAll('\n', '\r\n')}`);
  return {
    kind: 'email',
    reference,
    envelope: { from: 'bounces@einmal.example', to },
    parts: {
      from: { name: 'Einmal News', address: 'news@einmal.example' },
      replyTo: { name: null, address: 'answers@einmal.example' },
      to,
      subject: SUBJECT,
      html,
      text,
      headers: { 'List-Unsubscribe': '<https://einmal.example/u/token>' },
    },
    raw: () => raw,
    about: {
      tenantId: 'demo',
      operationKey: `conformance:${reference}`,
      payloadHash: `sha256:${'0'.repeat(64)}`,
      class: 'marketing',
      campaignId: null,
    },
  };
}

/** The same as a call of an endpoint. */
export function callOf(reference: string, variant: string): OutgoingHttp {
  return {
    kind: 'http',
    reference,
    method: 'POST',
    path: '/things',
    headers: { 'x-note': 'conformance' },
    body: { reference, to: recipientOf(reference), subject: SUBJECT, variant, list: [1, 2.5, null, 'ü'] },
  };
}

export function recipientOf(reference: string): string {
  return `jane-${reference}@to.example`;
}

export function subjectOf(): string {
  return SUBJECT;
}
