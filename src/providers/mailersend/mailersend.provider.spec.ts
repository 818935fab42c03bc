import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleMail, sampleQuery } from '../../../test/support/sample-mail.ts';
import { mailersendSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createMailersendProvider, judgeMailersend, readMailersend } from './mailersend.provider.ts';

const warning = (type: string) => ({ message: 'There are some warnings.', warnings: [{ type, recipients: [] }] });
const row = (status: string, more: object = {}) => ({ id: 'id-1', status, tags: [REFERENCE], ...more });

describe('answers', () => {
  it.each<[string, number, unknown, Record<string, string>, string]>([
    ['taken', 202, '', { 'x-message-id': 'id-1' }, 'accepted id-1'],
    ['taken without an id', 202, '', {}, 'ambiguous'],
    ['taken, and nothing goes out', 202, warning('ALL_SUPPRESSED'), { 'x-message-id': 'id-1' }, 'suppressed'],
    ['the one recipient suppressed', 202, warning('SOME_SUPPRESSED'), { 'x-message-id': 'id-1' }, 'suppressed'],
    ['taken with another warning', 202, warning('OTHER'), { 'x-message-id': 'id-1' }, 'accepted id-1'],
    ['suppressed as an error', 422, warning('ALL_SUPPRESSED'), {}, 'suppressed'],
    ['a bad field', 422, { message: 'x', errors: {} }, {}, 'rejected message'],
    ['maintenance', 421, {}, { 'retry-after': '9' }, 'throttled 9000'],
    ['a timeout of theirs', 408, {}, {}, 'ambiguous'],
  ])('%s', (_, status, body, headers, line) => {
    expect(verdictLine(judgeMailersend(answerOf(status, body, headers)))).toBe(line);
  });

  it.each<[string, unknown, string]>([
    ['nothing', { data: [] }, 'miss'],
    ['in the queue', { data: [row('queued')] }, 'accepted id-1'],
    ['delivered', { data: [row('delivered', { message_id: 'id-2' })] }, 'delivered id-2'],
    ['bounced', { data: [row('hard_bounced')] }, 'bounced id-1'],
    ['another mail', { data: [row('delivered', { tags: ['other'] })] }, 'miss'],
    ['another recipient', { data: [row('delivered', { recipient: { email: 'joe@b.org' } })] }, 'miss'],
    ['no list', {}, 'nothing said'],
  ])('to a look-up: %s', (_, body, line) =>
    expect(foundLine(readMailersend(answerOf(200, body), sampleQuery()))).toBe(line),
  );
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = (domainId: string | null = null) =>
    createMailersendProvider({
      providerName: 'main',
      ...mailersendSchema.parse({
        kind: 'mailersend',
        apiKey: 'hunter2',
        domainId,
        baseUrl: server.url,
        allowPrivate: true,
      }),
    });

  const BODY = {
    from: { email: 'news@a.org', name: 'News, "A"' },
    reply_to: { email: 'desk@a.org' },
    to: [{ email: 'jane@b.org' }],
    subject: 'Grüße',
    html: '<p>Hi</p>',
    text: 'Hi',
    tags: [REFERENCE],
  };

  it('has our reference as a tag', async () => {
    const headers = [
      { name: 'X-A', value: '1' },
      { name: 'X-B', value: '2' },
    ];
    expect(JSON.parse(await bodyOf(create(), server))).toEqual({ ...BODY, headers });
    expect(JSON.parse(await bodyOf(create(), server, sampleMail({ headers: {} })))).toEqual(BODY);
    expect(server.seen.at(-1)).toMatchObject({ url: '/v1/email', headers: { authorization: 'Bearer hunter2' } });
  });

  it('asks by tag', async () => {
    const asked = await askedOf(create('dom-1'), server);
    expect(asked.pathname).toBe('/v1/emails');
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      tag: REFERENCE,
      domain_id: 'dom-1',
      recipient_email: 'jane@b.org',
    });
  });
});
