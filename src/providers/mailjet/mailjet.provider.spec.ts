import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleQuery } from '../../../test/support/sample-mail.ts';
import { mailjetSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createMailjetProvider, judgeMailjet, readMailjet } from './mailjet.provider.ts';

/** Above 2^53: a double would make another number of it. */
const BIG = '1152921504606846977';
const SUCCESS = `{"Messages":[{"Status":"success","CustomID":"x","To":[{"Email":"x","MessageID":${BIG}}]}]}`;
const error = (more: object) => ({
  Messages: [{ Status: 'error', Errors: [{ ErrorCode: 'mj-1', ErrorMessage: 'x', ...more }] }],
});

describe('answers', () => {
  it.each<[string, number, unknown, string]>([
    ['taken', 200, SUCCESS, `accepted ${BIG}`],
    ['taken, although the call as a whole was not', 400, SUCCESS, `accepted ${BIG}`],
    ['taken without an id', 200, { Messages: [{ Status: 'success' }] }, 'ambiguous'],
    ['a 200 with an error', 200, error({ StatusCode: 400 }), 'rejected message'],
    ['a bad recipient', 400, error({ StatusCode: 400, ErrorRelatedTo: ['To[0].Email'] }), 'rejected recipient'],
    ['a bad sender', 400, error({ StatusCode: 400, ErrorRelatedTo: ['From'] }), 'rejected message'],
    ['a sender that is not allowed', 400, error({ StatusCode: 403, ErrorRelatedTo: ['From'] }), 'account'],
    ['a rate for this message', 400, error({ StatusCode: 429 }), 'throttled null'],
    ['an error of theirs for this message', 400, error({ StatusCode: 500 }), 'ambiguous'],
    ['an error without a status', 400, error({}), 'ambiguous'],
    ['an error of the whole call', 400, { ErrorCode: 'mj-2', StatusCode: 400 }, 'rejected message'],
    ['a success in a 500', 500, SUCCESS, 'ambiguous'],
  ])('%s', (_, status, body, line) => expect(verdictLine(judgeMailjet(answerOf(status, body)))).toBe(line));

  const row = (Status: string, more: object = {}) => ({ ID: BIG, Status, CustomID: REFERENCE, ...more });
  it.each<[string, unknown, string]>([
    ['nothing', { Count: 0, Data: [] }, 'miss'],
    ['in the queue', { Data: [row('queued')] }, `accepted ${BIG}`],
    ['sent', { Data: [row('sent')] }, `delivered ${BIG}`],
    ['blocked', { Data: [row('blocked')] }, `rejected ${BIG}`],
    ['sent, and a repeat that was blocked', { Data: [row('blocked', { ID: '7' }), row('opened')] }, `delivered ${BIG}`],
    ['another mail', { Data: [row('sent', { CustomID: 'other' })] }, 'miss'],
    ['no list', {}, 'nothing said'],
  ])('to a look-up: %s', (_, body, line) =>
    expect(foundLine(readMailjet(answerOf(200, body), sampleQuery()))).toBe(line),
  );

  it('to a look-up keep the digits of the id', () => {
    const body = `{"Data":[{"ID":${BIG},"Status":"sent","CustomID":"${REFERENCE}"}]}`;
    expect(foundLine(readMailjet(answerOf(200, body), sampleQuery()))).toBe(`delivered ${BIG}`);
  });
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = (deduplicate: object | null) =>
    createMailjetProvider({
      providerName: 'main',
      ...mailjetSchema.parse({
        kind: 'mailjet',
        apiKey: 'user',
        secretKey: 'hunter2',
        deduplicate,
        baseUrl: server.url,
        allowPrivate: true,
      }),
    });

  const MESSAGE = {
    From: { Email: 'news@a.org', Name: 'News, "A"' },
    ReplyTo: { Email: 'desk@a.org' },
    To: [{ Email: 'jane@b.org' }],
    Subject: 'Grüße',
    HTMLPart: '<p>Hi</p>',
    TextPart: 'Hi',
    Headers: { 'X-A': '1', 'X-B': '2' },
    CustomID: REFERENCE,
  };

  it('is one message', async () => {
    const provider = create(null);
    expect(JSON.parse(await bodyOf(provider, server))).toEqual({ Messages: [MESSAGE] });
    expect(server.seen.at(-1)).toMatchObject({
      url: '/v3.1/send',
      headers: { authorization: `Basic ${Buffer.from('user:hunter2').toString('base64')}` },
    });
    expect(provider.abilities.key).toEqual({ kind: 'none' });
  });

  it('is a campaign of its own to be deduplicated', async () => {
    const provider = create({ windowSeconds: 600 });
    expect(JSON.parse(await bodyOf(provider, server))).toEqual({
      Messages: [{ ...MESSAGE, CustomCampaign: `einmal-${REFERENCE}`, DeduplicateCampaign: true }],
    });
    expect(provider.abilities.key).toMatchObject({ kind: 'replay', windowMs: 600_000, scope: 'recipient' });
  });

  it('asks by CustomID', async () => {
    const asked = await askedOf(create(null), server);
    expect(asked.pathname).toBe('/v3/REST/message');
    expect(asked.searchParams.get('CustomID')).toBe(REFERENCE);
    expect(Number(asked.searchParams.get('FromTS'))).toBe(Date.parse('2026-11-01T09:59:30Z') / 1000);
  });
});
