import { simpleParser, type ParsedMail } from 'mailparser';
import { describe, expect, it } from 'vitest';
import { compileMail, type CompiledMail, type MailFilling, type MailSource } from './compile-mail.ts';
import { mailIdentity } from './mail-identity.ts';

const SOURCE: MailSource = {
  from: 'Größe & Co. <News@Bücher.example>',
  subject: 'Hello {{ subscriber.attributes.name }}',
  html: '<p>Dear {{ subscriber.attributes.name }},</p><p>you are {{ subscriber.email }}.</p>',
};

function compiled(source: Partial<MailSource> = {}): CompiledMail {
  const result = compileMail({ ...SOURCE, ...source });
  if (!result.ok) throw new Error(`${result.field}: ${result.rule}`);
  return result.mail;
}

function filling(attributes: Record<string, unknown> = {}, change: Partial<MailFilling> = {}): MailFilling {
  return {
    to: 'jane@b.org',
    ...mailIdentity('0b7c2f3e-0000-5000-8000-000000000001', 'b.org'),
    date: new Date('2026-11-29T15:04:05Z'),
    data: { subscriber: { email: 'jane@b.org', attributes }, campaign: { id: 'c1' } },
    ...change,
  };
}

function raw(mail: CompiledMail, values: MailFilling): Buffer {
  const filled = mail.fill(values);
  if (!filled.ok) throw new Error(filled.rule);
  return filled.raw();
}

async function parsed(source: Partial<MailSource>, values: MailFilling): Promise<ParsedMail> {
  return await simpleParser(raw(compiled(source), values));
}

function withoutFinalBreak(text: string | false | undefined): string {
  return (text || '').replace(/\n$/, '');
}

describe('compileMail', () => {
  it('makes a mail that a parser reads back', async () => {
    const mail = await parsed(
      { replyTo: 'Help <help@b.org>', headers: { 'X-Kind': 'weekly', 'List-Id': '<news.b.org>' } },
      filling({ name: 'Jörg 🎉' }),
    );
    expect(mail.from?.value).toEqual([{ name: 'Größe & Co.', address: expect.stringMatching(/^News@/) as string }]);
    expect(mail.replyTo?.value).toEqual([{ name: 'Help', address: 'help@b.org' }]);
    expect(mail.subject).toBe('Hello Jörg 🎉');
    expect(mail.messageId).toBe('<0b7c2f3e-0000-5000-8000-000000000001@b.org>');
    expect(mail.date?.toISOString()).toBe('2026-11-29T15:04:05.000Z');
    expect(mail.headers.get('x-kind')).toBe('weekly');
    expect(mail.headers.get('to')).toMatchObject({ text: 'jane@b.org' });
    expect(withoutFinalBreak(mail.html)).toBe('<p>Dear Jörg 🎉,</p><p>you are jane@b.org.</p>');
    expect(withoutFinalBreak(mail.text)).toBe('Dear Jörg 🎉,\n\nyou are jane@b.org.');
  });

  it('gives the sender for MAIL FROM', () => {
    expect(compiled().from).toBe('News@xn--bcher-kva.example');
  });

  it('gives the same bytes for the same input, and others for another', () => {
    const text = '{{ "now" | date: "%s" }}';
    const first = raw(compiled({ text }), filling({ name: 'A' }));
    expect(raw(compiled({ text }), filling({ name: 'A' })).equals(first)).toBe(true);
    expect(raw(compiled({ text }), filling({ name: 'B' })).equals(first)).toBe(false);
    expect(first.toString()).toContain('\r\n1795964645\r\n');
  });

  it('writes only CRLF, ASCII and lines that every server takes', () => {
    for (const name of ['ascii', 'Jörg', 'x'.repeat(4000), 'a\nb\rc\r\nd', '.\r\n.\r\n', '\u2028\0']) {
      const text = raw(
        compiled({ subject: 'S', html: '{{ subscriber.attributes.name }}\n<p>\r</p>' }),
        filling({ name }),
      ).toString('latin1');
      expect(text).toMatch(/^[\t\r\n\x20-\x7e]*$/);
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
    }
  });

  it('sends plain ASCII as it is and reads back what is not', async () => {
    expect(raw(compiled(), filling({ name: 'Jane' })).toString()).toContain('Content-Transfer-Encoding: 7bit');
    const long = 'word '.repeat(800);
    const mail = await parsed(
      { subject: 'S', html: '<p>{{ subscriber.attributes.name }}</p>' },
      filling({ name: `${long}ü` }),
    );
    expect(withoutFinalBreak(mail.html)).toBe(`<p>${long}ü</p>`);
    const lines = await parsed(
      { subject: 'S', html: '<pre>{{ subscriber.attributes.name }}</pre>' },
      filling({ name: 'x'.repeat(4096) }),
    );
    expect(withoutFinalBreak(lines.html)).toBe(`<pre>${'x'.repeat(4096)}</pre>`);
  });

  it('encodes a part that holds the boundary', async () => {
    const { boundarySeed } = filling();
    const html = `<p>x</p>\n--=_einmal_${boundarySeed}--\n<p>y</p>`;
    const mail = await parsed({ html, text: 'short' }, filling());
    expect(withoutFinalBreak(mail.html)).toBe(html);
  });

  it('lets no attribute reach the headers or the markup', async () => {
    const name = 'Eve\r\nBcc: other@y.org\r\n\r\n<script>alert(1)</script>';
    const mail = await parsed({ subject: '{{ subscriber.attributes.name }}' }, filling({ name }));
    expect(mail.bcc).toBeUndefined();
    expect(mail.subject).toBe('Eve Bcc: other@y.org <script>alert(1)</script>');
    expect(mail.html).not.toContain('<script>');
    expect(mail.html).toContain('&lt;script&gt;');
  });

  it('writes quoted and international recipients as they are', () => {
    for (const to of ['"a b"@b.org', 'jörg@b.org']) {
      expect(raw(compiled(), filling({}, { to })).toString()).toContain(`\r\nTo: ${to}\r\n`);
    }
  });

  it('takes the text that is given, with its own template', async () => {
    const mail = await parsed(
      { text: 'T {{ campaign.id }} <{{ subscriber.attributes.name }}>' },
      filling({ name: '&' }),
    );
    expect(withoutFinalBreak(mail.text)).toBe('T c1 <&>');
  });

  it('makes a mail of text alone where no html is given', async () => {
    const { html: _html, ...source } = SOURCE;
    const result = compileMail({ ...source, text: 'Dear {{ subscriber.attributes.name }}' });
    if (!result.ok) throw new Error(result.rule);
    const mail = await simpleParser(raw(result.mail, filling({ name: 'Jörg' })));
    expect(mail.html).toBe(false);
    expect(withoutFinalBreak(mail.text)).toBe('Dear Jörg');
    expect(compileMail(source)).toMatchObject({ ok: false, field: 'html' });
  });

  it('converts the rendered html where the template cannot be converted', async () => {
    const html = '<ul>{% for i in subscriber.attributes.things %}<li>{{ i }}</li>{% endfor %}</ul>';
    expect(compiled().textFrom).toBe('template');
    expect(compiled({ html }).textFrom).toBe('rendered-html');
    const mail = await parsed({ html }, filling({ things: ['a & b', 'c'] }));
    expect(withoutFinalBreak(mail.text)).toBe(' * a & b\n * c');
  });

  it.each([
    ['from', { from: 'a@b.org, c@d.org' }],
    ['from', { from: 'jörg@b.org' }],
    ['replyTo', { replyTo: 'nobody' }],
    ['subject', { subject: 'a\r\nBcc: x@y.org' }],
    ['subject', { subject: '{{ a' }],
    ['html', { html: '{% if a %}' }],
    ['text', { text: '{{ a | nothing }}' }],
    ...[
      'To',
      'from',
      'CC',
      'Bcc',
      'Sender',
      'Reply-To',
      'Subject',
      'Date',
      'Message-ID',
      'Return-Path',
      'Received',
    ].map((name) => ['headers', { headers: { [name]: 'x' } }] as const),
    ...[
      'Content-Type',
      'Content-Foo',
      'MIME-Version',
      'Resent-To',
      'DKIM-Signature',
      'ARC-Seal',
      'X Y',
      'X:',
      '',
      'Ü',
      'X\r\nBcc',
    ].map((name) => ['headers', { headers: { [name]: 'x' } }] as const),
    ...['a\r\nBcc: x@y.org', 'a\nb', 'a\rb', 'a\0b', '\ud800', 'x'.repeat(2001), 'x'.repeat(1500)].map(
      (value) => ['headers', { headers: { 'X-A': value } }] as const,
    ),
    ['headers', { headers: { 'X-A': '1', 'x-a': '2' } }],
    ['headers', { headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, 'x'])) }],
  ] as const)('refuses %s of %.60j', (field, change) => {
    const result = compileMail({ ...SOURCE, ...change });
    expect(result).toMatchObject({ ok: false, field });
    expect(result.ok || result.rule).not.toContain('b.org');
  });

  it('keeps non-ASCII header values', async () => {
    const mail = await parsed({ headers: { 'X-Kind': 'Grüße 🎉 '.repeat(10).trim() } }, filling());
    const decoded = await simpleParser(`Subject: ${mail.headers.get('x-kind') as string}\r\n\r\n`);
    expect(decoded.subject).toBe('Grüße 🎉 '.repeat(10).trim());
  });

  it.each<[string, Partial<MailFilling>]>([
    ['to', { to: 'a@b.org\r\nBcc: x@y.org' }],
    ['to', { to: 'a@b.org>' }],
    ['messageId', { messageId: 'a@b.org' }],
    ['messageId', { messageId: '<a@b.org>\r\nX: y' }],
    ['boundarySeed', { boundarySeed: 'a"b' }],
    ['boundarySeed', { boundarySeed: '' }],
    ['date', { date: new Date(Number.NaN) }],
  ])('does not fill a wrong %s', (field, change) => {
    const filled = compiled().fill(filling({}, change));
    expect(filled).toMatchObject({ ok: false, rule: expect.stringContaining(field) as string });
  });

  it('says which part cannot be rendered', () => {
    const html = '{% for i in (1..100000000) %}{% endfor %}';
    expect(compiled({ html, text: 't' }).fill(filling())).toMatchObject({
      ok: false,
      rule: expect.stringMatching(/^html: /) as string,
    });
    const subject = '{{ subscriber.attributes.name }}';
    expect(compiled({ subject }).fill(filling({ name: 'x'.repeat(1001) }))).toMatchObject({ ok: false });
  });
});
