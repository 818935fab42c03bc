import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../../test/support/answering-server.ts';
import { answerOf, bodyOf, verdictLine } from '../../../test/support/read-answers.ts';
import { REFERENCE } from '../../../test/support/sample-mail.ts';
import { sesSchema } from '../../config/provider-kinds/mail-apis.schema.ts';
import { awsSigner } from './aws-signature.ts';
import { createSesProvider, judgeSes } from './ses.provider.ts';

const typed = (type: string) => ({ 'x-amzn-errortype': type });

describe('answers', () => {
  it.each<[string, number, unknown, Record<string, string>, string]>([
    ['taken', 200, { MessageId: '0102-x' }, {}, 'accepted 0102-x'],
    ['a rate', 429, {}, typed('TooManyRequestsException'), 'throttled null'],
    ['a rate as 400', 400, { __type: 'com.amazon#ThrottlingException' }, {}, 'throttled null'],
    ['a rate as 503', 503, {}, typed('ThrottlingException:http://x'), 'throttled null'],
    ['a limit', 400, {}, typed('LimitExceededException'), 'account'],
    ['suspended', 400, {}, typed('AccountSuspendedException'), 'account'],
    ['paused', 400, {}, typed('SendingPausedException'), 'account'],
    ['MAIL FROM', 400, {}, typed('MailFromDomainNotVerifiedException'), 'account'],
    ['a configuration set that is not there', 404, {}, typed('NotFoundException'), 'account'],
    ['a wrong signature', 403, {}, typed('SignatureDoesNotMatch'), 'account'],
    ['a refused message', 400, {}, typed('MessageRejected'), 'rejected message'],
    ['a bad request', 400, {}, typed('BadRequestException'), 'rejected message'],
    ['their own error', 500, {}, typed('InternalServiceErrorException'), 'ambiguous'],
    ['a type that is not known', 503, {}, typed('ServiceUnavailableException'), 'ambiguous'],
    ['a name that is inherited', 500, { __type: 'constructor' }, {}, 'ambiguous'],
  ])('%s', (_, status, body, headers, line) => {
    expect(verdictLine(judgeSes(answerOf(status, body, headers)))).toBe(line);
  });
});

describe('a request', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = (configurationSet: string | null) =>
    createSesProvider({
      providerName: 'main',
      ...sesSchema.parse({
        kind: 'ses',
        region: 'eu-west-1',
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: 'hunter2',
        configurationSet,
        baseUrl: server.url,
        allowPrivate: true,
      }),
    });

  it('is the raw message, tagged and signed', async () => {
    expect(JSON.parse(await bodyOf(create('main'), server))).toEqual({
      FromEmailAddress: 'news@a.org',
      Destination: { ToAddresses: ['jane@b.org'] },
      Content: { Raw: { Data: Buffer.from('Subject: x\r\n\r\nHi\r\n').toString('base64') } },
      EmailTags: [{ Name: 'einmal-ref', Value: REFERENCE }],
      ConfigurationSetName: 'main',
    });
    const headers = server.seen.at(-1)?.headers ?? {};
    expect(server.seen.at(-1)?.url).toBe('/v2/email/outbound-emails');
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/ses\/aws4_request, SignedHeaders=[^,]*\bhost\b[^,]*, Signature=[0-9a-f]{64}$/,
    );
    expect(headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/);
  });

  it('expects receipts only with a configuration set', () => {
    expect(create(null).abilities.receipt).toEqual({ kind: 'none' });
    expect(create('main').abilities.receipt).toEqual({ kind: 'proves-acceptance', waitMs: 1_800_000 });
  });
});

it('signs as Signature Version 4 does', async () => {
  const credential = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  const sign = awsSigner('us-east-1', credential, 'https://email.us-east-1.amazonaws.com');
  const request = { method: 'POST', path: '/v2/email/outbound-emails', headers: {}, body: Buffer.from('{}') };
  const at = new Date('2026-01-02T03:04:05Z');
  const signed = await sign(request, at);
  expect(signed).toMatchObject({ 'x-amz-date': '20260102T030405Z' });
  expect(await sign(request, at)).toEqual(signed);
  expect((await sign({ ...request, body: Buffer.from('{ }') }, at))['authorization']).not.toBe(signed['authorization']);
});
