import { describe, expect, it } from 'vitest';
import { startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, bodyOf, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE, sampleMail } from '../../../test/support/sample-mail.ts';
import { resendSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createResendProvider, judgeResend, judgeResendBatch } from './resend.provider.ts';

describe('answers', () => {
  it.each<[string, number, string, string]>([
    ['at work', 409, 'concurrent_idempotent_requests', 'concurrent'],
    ['another content', 409, 'invalid_idempotent_request', 'key-mismatch'],
    ['a 409 that is neither', 409, 'something_else', 'ambiguous'],
    ['a rate', 429, 'rate_limit_exceeded', 'throttled 2000'],
    ['the quota of the day', 429, 'daily_quota_exceeded', 'account'],
    ['the quota of the month', 429, 'monthly_quota_exceeded', 'account'],
    ['a security stop', 451, 'security_error', 'account'],
    ['no such key', 403, 'invalid_api_key', 'account'],
    ['a bad field', 422, 'validation_error', 'rejected message'],
    ['a bad sender', 422, 'invalid_from_address', 'rejected message'],
    ['a bad key', 400, 'invalid_idempotency_key', 'rejected message'],
    ['their own error', 500, 'application_error', 'ambiguous'],
    ['their own error with a name of 4xx', 500, 'invalid_idempotent_request', 'ambiguous'],
  ])('%s', (_, status, name, line) => {
    expect(verdictLine(judgeResend(answerOf(status, { name, message: 'x' }, { 'retry-after': '2' })))).toBe(line);
  });

  it('taken', () => {
    expect(verdictLine(judgeResend(answerOf(200, { id: 'id-1' })))).toBe('accepted id-1');
    expect(verdictLine(judgeResend(answerOf(200, {})))).toBe('ambiguous');
  });
});

const ids = (...names: readonly string[]) => names.map((id) => ({ id }));

describe('answers to a batch of three', () => {
  const said = { index: 1, message: 'Invalid `to` field.' };
  it.each<[string, number, unknown, readonly string[]]>([
    ['all taken', 200, { data: ids('a', 'b', 'c') }, ['accepted a', 'accepted b', 'accepted c']],
    [
      'one refused: the ids are of the others',
      200,
      { data: ids('a', 'c'), errors: [said] },
      ['accepted a', 'rejected message', 'accepted c'],
    ],
    [
      'all refused',
      200,
      { data: [], errors: [0, 1, 2].map((index) => ({ ...said, index })) },
      ['rejected message', 'rejected message', 'rejected message'],
    ],
    ['one without an id', 200, { data: [{ id: 'a' }, {}, { id: 'c' }] }, ['accepted a', 'ambiguous', 'accepted c']],
    ['too few', 200, { data: ids('a', 'b') }, []],
    ['too many', 200, { data: ids('a', 'b', 'c', 'd') }, []],
    ['more than there are', 200, { data: ids('a', 'b', 'c'), errors: [said] }, []],
    ['the same one refused twice', 200, { data: ids('a'), errors: [said, said] }, []],
    ['one refused that is not there', 200, { data: ids('a', 'b'), errors: [{ ...said, index: 3 }] }, []],
    ['nothing of it', 200, '<html>', []],
    ['at work', 409, { name: 'concurrent_idempotent_requests' }, ['concurrent', 'concurrent', 'concurrent']],
    ['other bytes', 409, { name: 'invalid_idempotent_request' }, ['key-mismatch', 'key-mismatch', 'key-mismatch']],
    ['a rate', 429, { name: 'rate_limit_exceeded' }, ['throttled 2000', 'throttled 2000', 'throttled 2000']],
    ['a quota', 429, { name: 'daily_quota_exceeded' }, ['account', 'account', 'account']],
    ['no such key', 401, { name: 'missing_api_key' }, ['account', 'account', 'account']],
    ['their own error', 500, { name: 'application_error' }, ['ambiguous', 'ambiguous', 'ambiguous']],
    ['refused as a whole', 422, { name: 'validation_error' }, ['not-sent', 'not-sent', 'not-sent']],
    ['too large', 413, '', ['not-sent', 'not-sent', 'not-sent']],
  ])('%s', (_, status, body, lines) => {
    expect(judgeResendBatch(answerOf(status, body, { 'retry-after': '2' }), 3).map(verdictLine)).toEqual(lines);
  });
});

it('sends a batch as the list of what single calls send, permissive, under one key', async () => {
  await using server = await startAnsweringServer({ status: 200, body: { data: [{ id: 'a' }, { id: 'b' }] } });
  const provider = createResendProvider({
    providerName: 'main',
    ...resendSchema.parse({ kind: 'resend', apiKey: 'hunter2', batchSize: 2, baseUrl: server.url, allowPrivate: true }),
  });
  const other = sampleMail({ subject: 'Other' }, { reference: '00000000-0000-4000-8000-000000000002' });
  const calls = [sampleMail(), other].flatMap((mail) => {
    const prepared = provider.prepare(mail, null);
    return prepared.ok ? [prepared.call] : [];
  });
  expect(calls.map(({ batchable }) => batchable)).toEqual([true, true]);
  for (const call of calls) await call.send(20_000);
  const singles = server.seen.map(({ body }) => body);
  const outcomes = await provider.prepareBatch?.(calls, 'batch-1').send(20_000);
  expect(outcomes?.map((outcome) => [outcome.kind, outcome.code])).toEqual([
    ['accepted', 'http-200'],
    ['accepted', 'http-200'],
  ]);
  expect(server.seen.at(-1)).toMatchObject({
    url: '/emails/batch',
    body: `[${singles.join(',')}]`,
    headers: {
      'idempotency-key': 'batch-1',
      'x-batch-validation': 'permissive',
      authorization: 'Bearer hunter2',
      'content-type': 'application/json',
    },
  });
  expect(provider.abilities.batch).toEqual({ kind: 'per-message', max: 2, maxBytes: 40_000_000 });
  await provider.close();
});

it('sends the key as a header and our reference as a tag', async () => {
  await using server = await startAnsweringServer();
  const provider = createResendProvider({
    providerName: 'main',
    ...resendSchema.parse({ kind: 'resend', apiKey: 'hunter2', baseUrl: server.url, allowPrivate: true }),
  });
  expect(JSON.parse(await bodyOf(provider, server))).toEqual({
    from: String.raw`"News, \"A\"" <news@a.org>`,
    to: ['jane@b.org'],
    reply_to: 'desk@a.org',
    subject: 'Grüße',
    html: '<p>Hi</p>',
    text: 'Hi',
    headers: { 'X-A': '1', 'X-B': '2' },
    tags: [{ name: 'einmal-ref', value: REFERENCE }],
  });
  expect(server.seen.at(-1)).toMatchObject({
    url: '/emails',
    headers: { 'idempotency-key': REFERENCE, authorization: 'Bearer hunter2' },
  });
  // 24 hours, of which 23 are used.
  expect(provider.abilities.key).toMatchObject({ kind: 'replay', windowMs: 86_400_000, marginMs: 3_600_000 });
  await provider.close();
});
