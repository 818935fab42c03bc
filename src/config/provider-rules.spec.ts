import { describe, expect, it } from 'vitest';
import { readConfigFile } from './read-config-file.ts';

/** A right file but for the keys of its provider. */
const FILE = `
tenants:
  acme:
    senders: [acme.example]
    provider: main
providers:
  main:
`;

const errorsOf = (file: string) => readConfigFile(file, {}).errors.map(({ path, rule }) => [path, rule]);

/** FILE with its provider. */
const withMain = (block: string) => FILE + block.slice(1);

describe('one wrong thing of another kind of provider', () => {
  const HTTP = `
    kind: http
    baseUrl: https://api.acme.example
    mail: { path: /mails }
    auth: { bearer: hunter2 }
    key: { kind: replay, windowSeconds: 100 }
    lookup: { path: "/things/{{ reference }}", found: { jsonPath: $.id }, minAgeSeconds: 5 }
`;
  const SENDGRID = `
    kind: sendgrid
    apiKey: hunter2
`;
  const SES = `
    kind: ses
    region: eu-west-1
    accessKeyId: hunter2
    secretAccessKey: hunter2
`;
  const MAILJET = `
    kind: mailjet
    apiKey: hunter2
    secretKey: hunter2
    deduplicate: { windowSeconds: 100 }
`;
  const RESEND = `
    kind: resend
    apiKey: hunter2
    batchSize: 100
`;
  const POSTMARK = `
    kind: postmark
    serverToken: hunter2
    batchSize: 500
`;
  const KAFKA = `
    kind: kafka
    windowDays: 7
`;

  const BLOCKS = { HTTP, SENDGRID, SES, MAILJET, RESEND, POSTMARK, KAFKA };
  type Block = keyof typeof BLOCKS;

  it.each(Object.keys(BLOCKS) as Block[])('none in %s', (name) => {
    expect(errorsOf(withMain(BLOCKS[name]))).toEqual([]);
  });

  it.each<[Block, string, string, string, string]>([
    // any
    ['KAFKA', 'windowDays', 'windowDay', 'windowDay', 'unknown-key'],
    ['KAFKA', 'windowDays: 7', 'windowDays: 0', 'windowDays', 'out-of-range'],
    ['SENDGRID', 'kind: sendgrid', 'kind: [sendgrid]', 'kind', 'wrong-type'],
    ['SENDGRID', '    apiKey: hunter2\n', '', 'apiKey', 'required'],
    ['SENDGRID', 'hunter2', 'hunter2\n    lookup: { minAgeSeconds: 0 }', 'lookup.minAgeSeconds', 'out-of-range'],
    ['SENDGRID', 'hunter2', 'hunter2\n    lookup: { miss: retry }', 'lookup.miss', 'out-of-range'],
    ['SENDGRID', 'hunter2', 'hunter2\n    receiptWaitSeconds: 0', 'receiptWaitSeconds', 'out-of-range'],
    ['SENDGRID', 'hunter2', 'hunter2\n    timeoutSeconds: 80', 'timeoutSeconds', 'contradiction'],
    ['SES', 'eu-west-1', 'Frankfurt', 'region', 'wrong-form'],
    ['SES', 'eu-west-1', 'eu-west-1\n    configurationSet: "a b"', 'configurationSet', 'wrong-form'],
    [
      'MAILJET',
      '{ windowSeconds: 100 }',
      '{ windowSeconds: 60, marginSeconds: 60 }',
      'deduplicate.marginSeconds',
      'contradiction',
    ],
    ['RESEND', 'batchSize: 100', 'batchSize: 101', 'batchSize', 'out-of-range'],
    ['RESEND', 'batchSize: 100', 'batchSize: 0', 'batchSize', 'out-of-range'],
    ['POSTMARK', 'batchSize: 500', 'batchSize: 501', 'batchSize', 'out-of-range'],
    ['POSTMARK', 'batchSize: 500', 'batchSize: 500\n    baseUrl: http://a.example', 'baseUrl', 'contradiction'],
    ['SENDGRID', 'hunter2', 'hunter2\n    batchSize: 2', 'batchSize', 'unknown-key'],
    // where it is
    ['SENDGRID', 'hunter2', 'hunter2\n    baseUrl: http://mail.example', 'baseUrl', 'contradiction'],
    ['SES', 'eu-west-1', 'eu-west-1\n    baseUrl: http://mail.example', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'http://api.acme.example', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'https://127.0.0.1:8080', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'https://[::1]', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'https://localhost', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'https://169.254.169.254/x', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'https://2130706433', 'baseUrl', 'contradiction'],
    ['HTTP', 'https://api.acme.example', 'ftp://api.acme.example', 'baseUrl', 'wrong-form'],
    ['HTTP', 'https://api.acme.example', 'api.acme.example', 'baseUrl', 'wrong-form'],
    ['HTTP', 'https://api.acme.example', 'https://u:hunter2@api.acme.example', 'baseUrl', 'wrong-form'],
    ['HTTP', 'https://api.acme.example', 'https://api.acme.example/x?token=hunter2', 'baseUrl', 'wrong-form'],
    ['HTTP', 'https://api.acme.example', 'https://api.acme.example/a/../b', 'baseUrl', 'wrong-form'],
    // http
    ['HTTP', '{ bearer: hunter2 }', '{ bearr: hunter2 }', 'auth', 'wrong-form'],
    ['HTTP', '{ path: /mails }', '{ path: "/mails/{{ recipient }}" }', 'mail.path', 'wrong-form'],
    ['HTTP', '{ path: /mails }', '{ path: "//evil.example" }', 'mail.path', 'wrong-form'],
    ['HTTP', '{ path: /mails }', 'null', 'tenants.acme.provider', 'contradiction'],
    ['HTTP', 'windowSeconds: 100', 'windowSeconds: 60', 'key.marginSeconds', 'contradiction'],
    ['HTTP', ', windowSeconds: 100', '', 'key.windowSeconds', 'required'],
    ['HTTP', 'kind: replay', 'kind: repeat', 'key.kind', 'out-of-range'],
    ['HTTP', 'kind: replay', 'kind: replay, header: "X Key"', 'key.header', 'wrong-form'],
    ['HTTP', '"/things/{{ reference }}"', '"/things/{ reference }"', 'lookup.path', 'wrong-form'],
    ['HTTP', '$.id', '$..id', 'lookup.found.jsonPath', 'wrong-form'],
    ['HTTP', ', minAgeSeconds: 5', '', 'lookup.minAgeSeconds', 'required'],
    ['HTTP', '    auth', '    headers: { authorization: hunter2 }\n    auth', 'headers', 'wrong-form'],
    ['HTTP', '    auth', '    methods: []\n    auth', 'methods', 'out-of-range'],
    ['HTTP', '    auth', '    paths: [things]\n    auth', 'paths[0]', 'wrong-form'],
    ['HTTP', '    auth', '    answers: { accepted: [2000] }\n    auth', 'answers.accepted[0]', 'out-of-range'],
    ['HTTP', '    auth', '    answers: { acepted: [200] }\n    auth', 'answers.acepted', 'unknown-key'],
    ['HTTP', '    auth', '    effectId: { jsonPath: "$" }\n    auth', 'effectId.jsonPath', 'wrong-form'],
  ])('%s: %j as %j', (name, from, to, path, rule) => {
    expect(BLOCKS[name]).toContain(from);
    const { errors } = readConfigFile(withMain(BLOCKS[name].replace(from, to)), {});
    const whole = path.startsWith('tenants.') ? path : `providers.main.${path}`;
    expect(errors.map((error) => [error.path, error.rule])).toEqual([[whole, rule]]);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });

  it('refuses a batch that is larger than what is ever claimed ahead', () => {
    const dispatch = 'dispatch: { leaseSeconds: 90, claimBatch: 20, claimBatchMax: 99 }\n';
    expect(errorsOf(dispatch + withMain(RESEND))).toEqual([['providers.main.batchSize', 'contradiction']]);
    expect(errorsOf(dispatch + withMain(RESEND.replace('100', '99')))).toEqual([]);
  });

  it('refuses one header from two places', () => {
    const key = HTTP.replace('kind: replay', 'kind: replay, header: x-key');
    const twice = key.replace('bearer: hunter2', 'header: { name: X-Key, value: hunter2 }');
    const fixed = key.replace('    auth', '    headers: { X-KEY: a }\n    auth');
    const both = HTTP.replace('{ bearer: hunter2 }', '{ header: { name: A, value: b } }').replace(
      '    auth',
      '    headers: { a: b }\n    auth',
    );
    expect(errorsOf(withMain(twice))).toEqual([['providers.main.key.header', 'contradiction']]);
    expect(errorsOf(withMain(fixed))).toEqual([['providers.main.key.header', 'contradiction']]);
    expect(errorsOf(withMain(both))).toEqual([['providers.main.auth.header.name', 'contradiction']]);
  });

  it('suggests the nearest kind', () => {
    const { errors } = readConfigFile(withMain(SENDGRID.replace('sendgrid', 'send-grid')), {});
    expect(errors.map(({ path, rule, nearest }) => [path, rule, nearest])).toEqual([
      ['providers.main.kind', 'out-of-range', 'sendgrid'],
    ]);
  });

  it('suggests the nearest key, and tells all that is wrong at once', () => {
    const block = `${SENDGRID.replace('apiKey', 'apikey')}    baseUrl: x\n`;
    const { errors } = readConfigFile(withMain(block), {});
    expect(errors.map(({ path, nearest }) => [path, nearest])).toEqual([
      ['providers.main.apiKey', null],
      ['providers.main.baseUrl', null],
      ['providers.main.apikey', 'apiKey'],
    ]);
  });

  it('allows private hosts and http:// where it is told to', () => {
    const block = `${SENDGRID}    allowPrivate: true\n    baseUrl: http://127.0.0.1:8080/x/\n`;
    const { parts, errors } = readConfigFile(withMain(block), {});
    expect(errors).toEqual([]);
    expect(parts.providers.get('main')).toMatchObject({ baseUrl: 'http://127.0.0.1:8080/x' });
  });

  it('tells of a secret that is not set', () => {
    const { errors } = readConfigFile(withMain(SENDGRID.replace('hunter2', '${SENDGRID_API_KEY}')), {});
    expect(errors.map(({ path, rule }) => [path, rule])).toEqual([['providers.main.apiKey', 'missing-variable']]);
  });
});
