import { describe, expect, it } from 'vitest';
import { startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, bodyOf, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE } from '../../../test/support/sample-mail.ts';
import { resendSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { createResendProvider, judgeResend } from './resend.provider.ts';

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
