import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleQuery } from '../../../test/support/sample-mail.ts';
import { sparkpostSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createSparkpostProvider, judgeSparkpost, readSparkpost } from './sparkpost.provider.ts';

const results = (taken: number, refused: number, id: unknown = 'id-1') => ({
  results: { id, total_accepted_recipients: taken, total_rejected_recipients: refused },
});
const event = (type: string, more: object = {}) => ({
  type,
  rcpt_to: 'jane@b.org',
  rcpt_meta: { 'einmal-ref': REFERENCE },
  transmission_id: 'id-1',
  ...more,
});

describe('answers', () => {
  it.each<[string, number, unknown, string]>([
    ['taken', 200, results(1, 0), 'accepted id-1'],
    ['the recipient refused', 200, results(0, 1), 'rejected recipient'],
    ['neither taken nor refused', 200, results(0, 0), 'ambiguous'],
    ['taken without an id', 200, results(1, 0, null), 'ambiguous'],
    ['the sending limit', 420, { errors: [{ code: '2102' }] }, 'throttled null'],
    ['a bad field', 422, { errors: [{ code: '1300' }] }, 'rejected message'],
    ['no right', 403, {}, 'account'],
  ])('%s', (_, status, body, line) => expect(verdictLine(judgeSparkpost(answerOf(status, body)))).toBe(line));

  it.each<[string, unknown, string]>([
    ['nothing', { results: [] }, 'miss'],
    ['taken', { results: [event('injection')] }, 'accepted id-1'],
    ['delivered', { results: [event('delivery'), event('injection')] }, 'delivered id-1'],
    ['bounced later', { results: [event('out_of_band'), event('delivery')] }, 'bounced id-1'],
    ['suppressed', { results: [event('policy_rejection')] }, 'rejected id-1'],
    ['complained', { results: [event('spam_complaint'), event('delivery')] }, 'complained id-1'],
    ['another mail', { results: [event('delivery', { rcpt_meta: { 'einmal-ref': 'other' } })] }, 'miss'],
    ['a mail without our reference', { results: [event('delivery', { rcpt_meta: {} })] }, 'miss'],
    ['no list', { results: {} }, 'nothing said'],
  ])('to a look-up: %s', (_, body, line) =>
    expect(foundLine(readSparkpost(answerOf(200, body), sampleQuery()))).toBe(line),
  );
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = () =>
    createSparkpostProvider({
      providerName: 'main',
      ...sparkpostSchema.parse({ kind: 'sparkpost', apiKey: 'hunter2', baseUrl: server.url, allowPrivate: true }),
    });

  it('is one recipient, its content left as it is', async () => {
    expect(JSON.parse(await bodyOf(create(), server))).toEqual({
      options: { transactional: true, perform_substitutions: false },
      recipients: [{ address: { email: 'jane@b.org' }, metadata: { 'einmal-ref': REFERENCE } }],
      content: {
        from: { email: 'news@a.org', name: 'News, "A"' },
        reply_to: 'desk@a.org',
        subject: 'Grüße',
        html: '<p>Hi</p>',
        text: 'Hi',
        headers: { 'X-A': '1', 'X-B': '2' },
      },
    });
    expect(server.seen.at(-1)).toMatchObject({ url: '/api/v1/transmissions', headers: { authorization: 'hunter2' } });
  });

  it('asks by recipient and time', async () => {
    const asked = await askedOf(create(), server);
    expect(asked.pathname).toBe('/api/v1/events/message');
    expect(asked.searchParams.get('recipients')).toBe('jane@b.org');
    expect(asked.searchParams.get('from')).toBe('2026-11-01T09:59Z');
  });

  it('cannot ask without a recipient', async () => {
    expect(await create().lookup?.(sampleQuery({ recipient: null }), 20_000)).toMatchObject({ kind: 'failed' });
  });
});
