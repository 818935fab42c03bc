import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleQuery } from '../../../test/support/sample-mail.ts';
import { mailgunSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createMailgunProvider, judgeMailgun, readMailgun } from './mailgun.provider.ts';

const event = (event: string, more: object = {}) => ({
  event,
  recipient: 'jane@b.org',
  'user-variables': { 'einmal-ref': REFERENCE },
  message: { headers: { 'message-id': 'id-1@mg.a.org' } },
  ...more,
});

describe('answers', () => {
  it.each<[string, number, unknown, string]>([
    ['taken', 200, { id: '<id-1@mg.a.org>', message: 'Queued. Thank you.' }, 'accepted id-1@mg.a.org'],
    ['taken without an id', 200, { message: 'Queued. Thank you.' }, 'ambiguous'],
    ['a bad field', 400, { message: "'to' parameter is not a valid address" }, 'rejected message'],
    ['no such domain', 404, { message: 'Domain not found' }, 'account'],
    ['a 5xx, after which mails have been seen', 500, { message: 'Internal' }, 'ambiguous'],
  ])('%s', (_, status, body, line) => expect(verdictLine(judgeMailgun(answerOf(status, body)))).toBe(line));

  it.each<[string, unknown, string]>([
    ['nothing', { items: [] }, 'miss'],
    ['taken', { items: [event('accepted')] }, 'accepted id-1@mg.a.org'],
    [
      'delivered and opened',
      { items: [event('accepted'), event('delivered'), event('opened')] },
      'delivered id-1@mg.a.org',
    ],
    ['tried again', { items: [event('failed', { severity: 'temporary' })] }, 'accepted id-1@mg.a.org'],
    ['bounced', { items: [event('accepted'), event('failed', { severity: 'permanent' })] }, 'bounced id-1@mg.a.org'],
    ['complained', { items: [event('complained'), event('delivered')] }, 'complained id-1@mg.a.org'],
    ['another mail', { items: [event('delivered', { 'user-variables': { 'einmal-ref': 'other' } })] }, 'miss'],
    ['a mail without our variable', { items: [event('delivered', { 'user-variables': {} })] }, 'miss'],
    ['another recipient', { items: [event('delivered', { recipient: 'joe@b.org' })] }, 'miss'],
    ['no list', {}, 'nothing said'],
  ])('to a look-up: %s', (_, body, line) =>
    expect(foundLine(readMailgun(answerOf(200, body), sampleQuery()))).toBe(line),
  );
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = () =>
    createMailgunProvider({
      providerName: 'main',
      ...mailgunSchema.parse({
        kind: 'mailgun',
        apiKey: 'hunter2',
        domain: 'mg.a.org',
        baseUrl: server.url,
        allowPrivate: true,
      }),
    });

  it('is a form', async () => {
    const form = new URLSearchParams(await bodyOf(create(), server));
    expect([...form]).toEqual([
      ['from', String.raw`"News, \"A\"" <news@a.org>`],
      ['to', 'jane@b.org'],
      ['subject', 'Grüße'],
      ['text', 'Hi'],
      ['html', '<p>Hi</p>'],
      ['h:Reply-To', 'desk@a.org'],
      ['h:X-A', '1'],
      ['h:X-B', '2'],
      ['v:einmal-ref', REFERENCE],
    ]);
    expect(server.seen.at(-1)).toMatchObject({
      url: '/v3/mg.a.org/messages',
      headers: { authorization: `Basic ${Buffer.from('api:hunter2').toString('base64')}` },
    });
  });

  it('asks by recipient and time', async () => {
    const asked = await askedOf(create(), server);
    expect(asked.pathname).toBe('/v3/mg.a.org/events');
    expect(asked.searchParams.get('recipient')).toBe('jane@b.org');
    expect(Number(asked.searchParams.get('begin'))).toBe(Date.parse('2026-11-01T09:59:30Z') / 1000);
  });

  it('cannot ask without a recipient', async () => {
    const before = server.seen.length;
    expect(await create().lookup?.(sampleQuery({ recipient: null }), 20_000)).toMatchObject({ kind: 'failed' });
    expect(server.seen).toHaveLength(before);
  });
});
