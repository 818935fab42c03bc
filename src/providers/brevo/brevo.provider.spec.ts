import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleQuery } from '../../../test/support/sample-mail.ts';
import { brevoSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createBrevoProvider, judgeBrevo, readBrevo } from './brevo.provider.ts';

const event = (event: string, more: object = {}) => ({
  event,
  messageId: '<id-1@x>',
  email: 'jane@b.org',
  tag: REFERENCE,
  ...more,
});

describe('answers', () => {
  it.each<[string, number, unknown, string]>([
    ['taken', 201, { messageId: '<id-1@x>' }, 'accepted <id-1@x>'],
    ['taken as a list', 201, { messageIds: ['<id-1@x>'] }, 'accepted <id-1@x>'],
    ['taken without an id', 201, {}, 'ambiguous'],
    ['another 2xx', 200, { messageId: '<id-1@x>' }, 'ambiguous'],
    ['a key that was there', 400, { code: 'duplicate_parameter' }, 'duplicate'],
    ['a bad field', 400, { code: 'invalid_parameter' }, 'rejected message'],
    ['no credits', 400, { code: 'not_enough_credits' }, 'account'],
    ['no credits by status', 402, {}, 'account'],
    ['under validation', 403, { code: 'account_under_validation' }, 'account'],
    ['their own error', 500, { code: 'duplicate_parameter' }, 'ambiguous'],
  ])('%s', (_, status, body, line) => expect(verdictLine(judgeBrevo(answerOf(status, body)))).toBe(line));

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'miss'],
    ['an empty list', { events: [] }, 'miss'],
    ['taken', { events: [event('requests')] }, 'accepted <id-1@x>'],
    ['delivered', { events: [event('delivered'), event('requests')] }, 'delivered <id-1@x>'],
    ['bounced', { events: [event('hardBounces')] }, 'bounced <id-1@x>'],
    ['blocked', { events: [event('blocked')] }, 'rejected <id-1@x>'],
    ['a list of tags', { events: [event('requests', { tag: `["${REFERENCE}"]` })] }, 'accepted <id-1@x>'],
    ['another mail', { events: [event('delivered', { tag: 'other' })] }, 'miss'],
    ['another recipient', { events: [event('delivered', { email: 'joe@b.org' })] }, 'miss'],
    ['something else', { code: 'x' }, 'nothing said'],
  ])('to a look-up: %s', (_, body, line) =>
    expect(foundLine(readBrevo(answerOf(200, body), sampleQuery()))).toBe(line),
  );
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = () =>
    createBrevoProvider({
      providerName: 'main',
      ...brevoSchema.parse({ kind: 'brevo', apiKey: 'hunter2', baseUrl: server.url, allowPrivate: true }),
    });

  it('has the key among the headers of the mail', async () => {
    expect(JSON.parse(await bodyOf(create(), server))).toEqual({
      sender: { email: 'news@a.org', name: 'News, "A"' },
      to: [{ email: 'jane@b.org' }],
      replyTo: { email: 'desk@a.org' },
      subject: 'Grüße',
      htmlContent: '<p>Hi</p>',
      textContent: 'Hi',
      headers: {
        'X-A': '1',
        'X-B': '2',
        idempotencyKey: REFERENCE,
        'Idempotency-Key': REFERENCE,
        'X-Mailin-custom': REFERENCE,
      },
      tags: [REFERENCE],
    });
    expect(server.seen.at(-1)).toMatchObject({ url: '/v3/smtp/email', headers: { 'api-key': 'hunter2' } });
    // 15 minutes, of which 12 are used.
    expect(create().abilities.key).toMatchObject({ kind: 'reject-duplicate', windowMs: 900_000, marginMs: 180_000 });
  });

  it('asks by tag and recipient, far enough back', async () => {
    const asked = await askedOf(create(), server, sampleQuery({ since: new Date(Date.now() - 100 * 86_400_000) }));
    expect(asked.pathname).toBe('/v3/smtp/statistics/events');
    expect(asked.searchParams.get('tags')).toBe(`["${REFERENCE}"]`);
    expect(asked.searchParams.get('email')).toBe('jane@b.org');
    expect(asked.searchParams.get('days')).toBe('90');
  });
});
