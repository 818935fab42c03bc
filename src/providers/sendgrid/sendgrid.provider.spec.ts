import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleQuery } from '../../../test/support/sample-mail.ts';
import { sendgridSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createSendgridProvider, judgeSendgrid, readSendgrid } from './sendgrid.provider.ts';

describe('answers', () => {
  it.each<[string, number, unknown, Record<string, string>, string]>([
    ['taken', 202, '', { 'x-message-id': 'abc' }, 'accepted abc'],
    ['taken without an id', 202, '', {}, 'ambiguous'],
    ['the sandbox', 200, '', {}, 'ambiguous'],
    ['a bad recipient', 400, { errors: [{ field: 'personalizations.0.to.0.email' }] }, {}, 'rejected recipient'],
    ['a bad subject', 400, { errors: [{ field: 'subject' }] }, {}, 'rejected message'],
    ['too large', 413, {}, {}, 'rejected message'],
    ['no sender', 403, { errors: [{ field: 'from' }] }, {}, 'account'],
    ['a rate', 429, {}, { 'retry-after': '3' }, 'throttled 3000'],
    ['a rate until long ago', 429, {}, { 'x-ratelimit-reset': '1500000000' }, 'throttled 0'],
  ])('%s', (_, status, body, headers, line) => {
    expect(verdictLine(judgeSendgrid(answerOf(status, body, headers)))).toBe(line);
  });

  it.each<[unknown, string]>([
    [{ messages: [] }, 'miss'],
    [{ messages: [{ msg_id: 'abc.filter1', to_email: 'JANE@b.org', status: 'delivered' }] }, 'delivered abc'],
    [{ messages: [{ msg_id: 'abc', to_email: 'jane@b.org', status: 'not_delivered' }] }, 'bounced abc'],
    [{ messages: [{ msg_id: 'abc', to_email: 'jane@b.org', status: 'processed' }] }, 'accepted abc'],
    [{ messages: [{ msg_id: 'abc', to_email: 'joe@b.org', status: 'delivered' }] }, 'miss'],
    [{}, 'nothing said'],
  ])('to a look-up: %j', (body, line) =>
    expect(foundLine(readSendgrid(answerOf(200, body), sampleQuery()))).toBe(line),
  );
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = (lookup: object | null) =>
    createSendgridProvider({
      providerName: 'main',
      ...sendgridSchema.parse({ kind: 'sendgrid', apiKey: 'hunter2', baseUrl: server.url, allowPrivate: true, lookup }),
    });

  it('is one personalization', async () => {
    expect(JSON.parse(await bodyOf(create(null), server))).toEqual({
      personalizations: [{ to: [{ email: 'jane@b.org' }], custom_args: { 'einmal-ref': REFERENCE } }],
      from: { email: 'news@a.org', name: 'News, "A"' },
      reply_to: { email: 'desk@a.org' },
      subject: 'Grüße',
      content: [
        { type: 'text/plain', value: 'Hi' },
        { type: 'text/html', value: '<p>Hi</p>' },
      ],
      headers: { 'X-A': '1', 'X-B': '2' },
    });
    expect(server.seen.at(-1)).toMatchObject({ url: '/v3/mail/send', headers: { authorization: 'Bearer hunter2' } });
  });

  it('asks only with the paid feed', async () => {
    expect(create(null)).toHaveProperty('lookup', undefined);
    const asked = await askedOf(create({}), server);
    expect(asked.pathname).toBe('/v3/messages');
    expect(asked.searchParams.get('query')).toBe(`(unique_args['einmal-ref']="${REFERENCE}")`);
  });
});
