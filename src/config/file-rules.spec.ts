import { describe, expect, it } from 'vitest';
import { readConfigFile } from './read-config-file.ts';

const HASH = 'a'.repeat(64);

/** A right file as lines, so that each case can change one. */
const FILE = `
tenants:
  acme:
    tokens:
      - { name: ci, sha256: ${HASH}, scopes: [read] }
    senders: [acme.example]
    provider: main
providers:
  main:
    kind: smtp
    host: smtp.acme.example
    port: 587
`;

const errorsOf = (file: string) => readConfigFile(file, {}).errors.map(({ path, rule }) => [path, rule]);

it('finds nothing wrong in the file that the cases change', () => expect(errorsOf(FILE)).toEqual([]));

describe('one wrong thing gives one error with its path and rule', () => {
  it.each<[string, string, string, string]>([
    // tenants
    ['  acme:', '  Acme:', 'tenants.Acme', 'wrong-form'],
    ['  acme:', `  ${'a'.repeat(64)}:`, `tenants.${'a'.repeat(64)}`, 'wrong-form'],
    ['  acme:', '  "a b\\n":', 'tenants["a b\\n"]', 'wrong-form'],
    [`sha256: ${HASH}`, 'sha256: hunter2', 'tenants.acme.tokens[0].sha256', 'wrong-form'],
    ['name: ci', 'name: ""', 'tenants.acme.tokens[0].name', 'out-of-range'],
    ['name: ci, ', '', 'tenants.acme.tokens[0].name', 'required'],
    ['scopes: [read]', 'scopes: []', 'tenants.acme.tokens[0].scopes', 'out-of-range'],
    ['scopes: [read]', 'scopes: [read, admin]', 'tenants.acme.tokens[0].scopes[1]', 'out-of-range'],
    ['scopes: [read]', 'scopes: read', 'tenants.acme.tokens[0].scopes', 'wrong-type'],
    ['[acme.example]', '[]', 'tenants.acme.senders', 'out-of-range'],
    ['[acme.example]', '["a b.example"]', 'tenants.acme.senders[0]', 'wrong-form'],
    ['[acme.example]', '["News <a@b.example>"]', 'tenants.acme.senders[0]', 'wrong-form'],
    ['[acme.example]', '["a@b.example\\r\\nBcc: x"]', 'tenants.acme.senders[0]', 'wrong-form'],
    ['    provider: main', '    provider: mian', 'tenants.acme.provider', 'contradiction'],
    ['    provider: main', '    provider: main\n    providers: [spare]', 'tenants.acme.providers', 'contradiction'],
    [
      '    provider: main',
      '    provider: main\n    keyRetentionDays: 0',
      'tenants.acme.keyRetentionDays',
      'out-of-range',
    ],
    [
      '    provider: main',
      '    provider: main\n    keyRetentionDays: 1.5',
      'tenants.acme.keyRetentionDays',
      'wrong-type',
    ],
    [
      '    provider: main',
      '    provider: main\n    keyRetentionDays: null',
      'tenants.acme.keyRetentionDays',
      'wrong-type',
    ],
    [
      '    provider: main',
      '    provider: main\n    afterKeyRetention: forget',
      'tenants.acme.afterKeyRetention',
      'out-of-range',
    ],
    [
      '    provider: main',
      '    provider: main\n    payloadRetentionDays: 401',
      'tenants.acme.payloadRetentionDays',
      'contradiction',
    ],
    [
      '    provider: main',
      '    provider: main\n    keyRetentionDays: 13\n    payloadRetentionDays: 9',
      'tenants.acme.keyRetentionDays',
      'contradiction',
    ],
    ['    provider: main', '    provider: main\n    onUnknown: retry', 'tenants.acme.onUnknown', 'out-of-range'],
    ['    provider: main', '    provider: main\n    __proto__: { a: 1 }', 'tenants.acme.__proto__', 'unknown-key'],
    // providers
    ['kind: smtp', 'kind: pigeon', 'providers.main.kind', 'out-of-range'],
    ['    kind: smtp\n', '', 'providers.main.kind', 'required'],
    ['    port: 587\n', '', 'providers.main.port', 'required'],
    ['port: 587', 'port: 0', 'providers.main.port', 'out-of-range'],
    ['smtp.acme.example', '"smtp.acme.example\\r\\nQUIT"', 'providers.main.host', 'wrong-form'],
    ['smtp.acme.example', 'https://smtp.acme.example', 'providers.main.host', 'wrong-form'],
    ['port: 587', 'port: 587\n    security: ssl', 'providers.main.security', 'out-of-range'],
    ['port: 587', 'port: 587\n    connections: 201', 'providers.main.connections', 'out-of-range'],
    ['port: 587', 'port: 587\n    auth: { user: u }', 'providers.main.auth.password', 'required'],
    ['port: 587', 'port: 587\n    auth: { user: u, password: p, pass: p }', 'providers.main.auth.pass', 'unknown-key'],
    [
      'port: 587',
      'port: 587\n    security: none\n    auth: { user: u, password: p }',
      'providers.main.security',
      'contradiction',
    ],
    ['port: 587', 'port: 587\n    rate: { perSecond: 0 }', 'providers.main.rate.perSecond', 'out-of-range'],
    ['port: 587', 'port: 587\n    rate: 5', 'providers.main.rate', 'wrong-type'],
    ['port: 587', 'port: 587\n    timeoutSeconds: 76', 'providers.main.timeoutSeconds', 'contradiction'],
    // sections
    ['providers:\n', 'dispatch: { leaseSeconds: 74 }\nproviders:\n', 'providers.main.timeoutSeconds', 'contradiction'],
    ['providers:\n', 'dispatch: { claimBatch: 501 }\nproviders:\n', 'dispatch.claimBatch', 'contradiction'],
    ['providers:\n', 'dispatch: { retryBaseSeconds: 301 }\nproviders:\n', 'dispatch.retryBaseSeconds', 'contradiction'],
    ['providers:\n', 'dispatch: { pollMinMs: 1001 }\nproviders:\n', 'dispatch.pollMinMs', 'contradiction'],
    ['providers:\n', 'outbox: { pollMaxMs: 5 }\nproviders:\n', 'outbox.pollMinMs', 'contradiction'],
    [
      'providers:\n',
      'messaging: { inboxRetentionDays: 6 }\nproviders:\n',
      'messaging.topicRetentionDays',
      'contradiction',
    ],
    [
      'providers:\n',
      'messaging: { sessionTimeoutSeconds: 61 }\nproviders:\n',
      'messaging.sessionTimeoutSeconds',
      'contradiction',
    ],
    ['providers:\n', 'messaging: { createTopics: "yes" }\nproviders:\n', 'messaging.createTopics', 'wrong-type'],
    ['providers:\n', 'campaigns: [1]\nproviders:\n', 'campaigns', 'wrong-type'],
    ['providers:\n', 'tenant: {}\nproviders:\n', 'tenant', 'unknown-key'],
  ])('%j as %j', (from, to, path, rule) => {
    expect(FILE).toContain(from);
    const errors = readConfigFile(FILE.replace(from, to), {}).errors;
    expect(errors.map((error) => [error.path, error.rule])).toEqual([[path, rule]]);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });
});

describe('rules over several tenants', () => {
  const two = FILE.replace(
    'providers:\n',
    `  other:
    tokens:
      - { name: a, sha256: ${'b'.repeat(64)}, scopes: [read] }
      - { name: a, sha256: ${HASH.toUpperCase()}, scopes: [read] }
    senders: [a@other.example]
    provider: main
providers:\n`,
  );

  it('refuses a token of two tenants without showing it, and a token name that comes twice', () => {
    const { errors } = readConfigFile(two, {});
    expect(errors.map(({ path, rule, line }) => [path, rule, line])).toEqual([
      ['tenants.other.tokens[1].name', 'contradiction', 11],
      ['tenants.other.tokens[1].sha256', 'contradiction', 11],
    ]);
    expect(errors[1]?.message).toContain('tenants.acme.tokens[0]');
    expect(JSON.stringify(errors)).not.toContain(HASH);
  });

  it('still compares what is right when something else is wrong', () => {
    const file = two
      .replace('port: 587', 'port: x')
      .replace('senders: [acme.example]\n    provider: main', 'senders: [acme.example]\n    provider: mein');
    expect(errorsOf(file)).toEqual([
      ['providers.main.port', 'wrong-type'],
      ['tenants.acme.provider', 'contradiction'],
      ['tenants.other.tokens[1].name', 'contradiction'],
      ['tenants.other.tokens[1].sha256', 'contradiction'],
    ]);
  });

  it('suggests the nearest provider', () => {
    expect(readConfigFile(FILE.replace('provider: main', 'provider: mein'), {}).errors[0]?.nearest).toBe('main');
  });
});

describe('the file as a whole', () => {
  const bothMissing = [
    ['providers', 'required'],
    ['tenants', 'required'],
  ];
  it.each<[string, string, string[][]]>([
    ['nothing', '', bothMissing],
    ['only comments', '# x', bothMissing],
    ['a list', '[1]', [['', 'wrong-type'], ...bothMissing]],
    [
      'empty maps',
      'tenants: {}\nproviders: {}',
      [
        ['providers', 'out-of-range'],
        ['tenants', 'out-of-range'],
      ],
    ],
    ['a section with all its lines commented out', `${FILE}dispatch:\n  # leaseSeconds: 5\n`, []],
    [
      'JSON',
      '{"tenants": 1, "providers": []}',
      [
        ['providers', 'wrong-type'],
        ['tenants', 'wrong-type'],
      ],
    ],
  ])('%s', (_, file, errors) => {
    const inOrder = errorsOf(file).toSorted((a, b) => a.join().localeCompare(b.join()));
    expect(inOrder).toEqual(errors);
  });

  it('takes a rate without burst as one second of it', () => {
    const { parts, errors } = readConfigFile(FILE.replace('port: 587', 'port: 587\n    rate: { perSecond: 2.5 }'), {});
    expect(errors).toEqual([]);
    expect(parts.providers.get('main')?.rate).toEqual({ perSecond: 2.5, burst: 3 });
  });

  it('puts the default provider into the list and each only once', () => {
    const { parts } = readConfigFile(FILE.replace('provider: main', 'provider: main\n    providers: [main, main]'), {});
    expect(parts.tenants.get('acme')?.providers).toEqual(['main']);
  });
});
