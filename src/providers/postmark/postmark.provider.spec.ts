import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, askedOf, bodyOf, foundLine, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleMail, sampleQuery } from '../../../test/support/sample-mail.ts';
import { postmarkSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createPostmarkProvider, judgePostmark, judgePostmarkBatch, readPostmark } from './postmark.provider.ts';

describe('answers', () => {
  it.each<[string, number, unknown, string]>([
    ['taken', 200, { ErrorCode: 0, MessageID: 'id-1', Message: 'OK' }, 'accepted id-1'],
    ['taken with a delay, without a code', 200, { MessageID: 'id-1', Message: 'delayed' }, 'accepted id-1'],
    ['taken without an id', 200, { ErrorCode: 0 }, 'ambiguous'],
    ['a 200 with an error', 200, { ErrorCode: 300, MessageID: 'id-1' }, 'ambiguous'],
    ['an inactive recipient', 422, { ErrorCode: 406 }, 'suppressed'],
    ['an invalid recipient', 422, { ErrorCode: 300 }, 'rejected recipient'],
    ['an unknown sender', 422, { ErrorCode: 400 }, 'account'],
    ['no credits', 422, { ErrorCode: 405 }, 'account'],
    ['no approval', 422, { ErrorCode: 412 }, 'account'],
    ['a bad attachment', 422, { ErrorCode: 411 }, 'rejected message'],
    ['a 422 of somebody else', 422, '<html>', 'rejected message'],
    ['a wrong token', 401, { ErrorCode: 10 }, 'account'],
    ['their own error', 500, { ErrorCode: 300 }, 'ambiguous'],
  ])('%s', (_, status, body, line) => expect(verdictLine(judgePostmark(answerOf(status, body)))).toBe(line));

  it.each<[unknown, string]>([
    [{ TotalCount: 0, Messages: [] }, 'miss'],
    [{ Messages: [{ MessageID: 'id-1', Metadata: { 'einmal-ref': REFERENCE } }] }, 'accepted id-1'],
    [{ Messages: [{ MessageID: 'id-1' }] }, 'nothing said'],
    [{ Messages: [{ MessageID: 'id-1', Metadata: { 'einmal-ref': 'other' } }] }, 'miss'],
    [{ ErrorCode: 0 }, 'nothing said'],
  ])('to a look-up: %j', (body, line) =>
    expect(foundLine(readPostmark(answerOf(200, body), sampleQuery()))).toBe(line),
  );
});

describe('answers to a batch of three', () => {
  const taken = { ErrorCode: 0, MessageID: 'id', Message: 'OK' };

  it.each<[string, number, unknown, readonly string[]]>([
    [
      'each for itself',
      200,
      [taken, { ErrorCode: 406, Message: 'inactive' }, { ErrorCode: 300 }],
      ['accepted id', 'suppressed', 'rejected recipient'],
    ],
    [
      'a delay, without a code; a sender that is not ours; no id',
      200,
      [{ MessageID: 'id' }, { ErrorCode: 400 }, { ErrorCode: 0 }],
      ['accepted id', 'account', 'ambiguous'],
    ],
    [
      'a bad attachment, and what is no object',
      200,
      [{ ErrorCode: 411 }, null, 'x'],
      ['rejected message', 'ambiguous', 'ambiguous'],
    ],
    ['too few', 200, [taken, taken], ['accepted id', 'accepted id']],
    ['no list', 200, taken, []],
    ['refused as a whole', 422, { ErrorCode: 402 }, ['not-sent', 'not-sent', 'not-sent']],
    ['refused as one is', 422, { ErrorCode: 406 }, ['not-sent', 'not-sent', 'not-sent']],
    ['no credits', 422, { ErrorCode: 405 }, ['account', 'account', 'account']],
    ['a wrong token', 401, { ErrorCode: 10 }, ['account', 'account', 'account']],
    ['a rate', 429, '', ['throttled null', 'throttled null', 'throttled null']],
    ['their own error', 500, [taken, taken, taken], ['ambiguous', 'ambiguous', 'ambiguous']],
  ])('%s', (_, status, body, lines) => {
    expect(judgePostmarkBatch(answerOf(status, body), 3).map(verdictLine)).toEqual(lines);
  });
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = (marketingStream: string | null = null) =>
    createPostmarkProvider({
      providerName: 'main',
      ...postmarkSchema.parse({
        kind: 'postmark',
        serverToken: 'hunter2',
        marketingStream,
        baseUrl: server.url,
        allowPrivate: true,
      }),
    });

  it('has our reference as metadata', async () => {
    expect(JSON.parse(await bodyOf(create(), server))).toEqual({
      From: String.raw`"News, \"A\"" <news@a.org>`,
      To: 'jane@b.org',
      ReplyTo: 'desk@a.org',
      Subject: 'Grüße',
      HtmlBody: '<p>Hi</p>',
      TextBody: 'Hi',
      MessageStream: 'outbound',
      Metadata: { 'einmal-ref': REFERENCE },
      Headers: [
        { Name: 'X-A', Value: '1' },
        { Name: 'X-B', Value: '2' },
      ],
    });
    expect(server.seen.at(-1)).toMatchObject({ url: '/email', headers: { 'x-postmark-server-token': 'hunter2' } });
  });

  it('goes by the stream of its class', async () => {
    const about = { ...sampleMail().about, class: 'marketing' } as const;
    const marketing = sampleMail({}, { about });
    expect(await bodyOf(create('broadcast'), server, marketing)).toContain('"MessageStream":"broadcast"');
    expect(await bodyOf(create('broadcast'), server)).toContain('"MessageStream":"outbound"');
    expect(await bodyOf(create(), server, marketing)).toContain('"MessageStream":"outbound"');
  });

  it('of a batch is the list of what single calls send, without a key', async () => {
    const parts = { serverToken: 'hunter2', batchSize: 2, baseUrl: server.url, allowPrivate: true };
    const provider = createPostmarkProvider({
      providerName: 'main',
      ...postmarkSchema.parse({ kind: 'postmark', ...parts }),
    });
    const single = await bodyOf(provider, server);
    const prepared = provider.prepare(sampleMail(), provider.shape);
    if (!prepared.ok) throw new Error(prepared.rule);
    await provider.prepareBatch?.([prepared.call, prepared.call], 'batch-1').send(20_000);
    const { url, body, headers } = server.seen.at(-1) ?? {};
    expect([url, body]).toEqual(['/email/batch', `[${single},${single}]`]);
    expect(headers).not.toHaveProperty('idempotency-key');
    expect(headers).toMatchObject({ 'x-postmark-server-token': 'hunter2' });
    await provider.close();
  });

  it('asks by metadata', async () => {
    const asked = await askedOf(create(), server);
    expect(asked.pathname).toBe('/messages/outbound');
    expect(asked.searchParams.get('metadata_einmal-ref')).toBe(REFERENCE);
  });
});
