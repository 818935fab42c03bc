import { describe, expect, it } from 'vitest';
import { REFERENCE, sampleMail } from '../../../test/support/sample-mail.ts';
import { httpSchema } from '../../config/provider-kinds/http.schema.ts';
import type { Outgoing, OutgoingHttp, Provider } from '../provider.port.ts';
import { createHttpProvider } from './http.provider.ts';

const KEY = { kind: 'replay', windowSeconds: 3600 };

function create(more: Record<string, unknown> = {}): Provider {
  const settings = httpSchema.parse({ kind: 'http', baseUrl: 'https://api.example/v1', ...more });
  return createHttpProvider({ providerName: 'tickets', ...settings });
}

const call = (more: Partial<OutgoingHttp> = {}): OutgoingHttp => ({
  kind: 'http',
  reference: REFERENCE,
  method: 'POST',
  path: '/things',
  headers: {},
  body: {},
  ...more,
});

function ruleOf(provider: Provider, outgoing: Outgoing): string | null {
  const prepared = provider.prepare(outgoing, provider.shape);
  return prepared.ok ? null : prepared.rule;
}

const limited = () =>
  create({
    paths: ['/v1/public', '/open/'],
    auth: { header: { name: 'X-Api-Key', value: 'k' } },
    headers: { 'X-Fixed': 'f' },
    key: KEY,
  });

describe('what is refused before the call', () => {
  it.each(['/v1/public', '/v1/public/x', '/v1/public?x=../..', '/open/x', '/open/a%20b'])('%s is allowed', (path) => {
    expect(ruleOf(limited(), call({ path }))).toBeNull();
  });

  it.each([
    '/',
    '/v1',
    '/v1/publicity',
    '/v1/public/../admin',
    '/v1/public/..',
    '/v1/public/%2e%2e/admin',
    '/v1/public/.%2E/admin',
    '/v1/public%2f..%2fadmin',
    '/v1/public/./x',
    '/v1/public/%',
    '/v1/public/%5c..%5cadmin',
    '/v1/public/%00',
    '/open',
    '//evil.example/open/x',
    'open/x',
  ])('%s is not allowed', (path) => {
    expect(ruleOf(limited(), call({ path }))).toMatch(/^path:/);
  });

  it.each(['/open/ü', '/open/a b', '/open/a#b'])('%s cannot be carried', (path) => {
    expect(ruleOf(limited(), call({ path }))).toMatch(/^path:/);
  });

  it('a path that is another host to some', () => {
    expect(ruleOf(create(), call({ path: '//evil.example/x' }))).toMatch(/^path:/);
  });

  it('a method that is not allowed', () => {
    expect(ruleOf(create(), call({ method: 'GET' }))).toMatch(/^method:/);
  });

  it.each(['x-api-key', 'X-FIXED', 'Idempotency-Key'])('the header %s, which the configuration sets', (name) => {
    expect(ruleOf(limited(), call({ path: '/open/x', headers: { [name]: 'x' } }))).toMatch(/^headers\./);
  });

  it.each(['a\r\nb: c', 'a\u0000', 'ü€'])('the header value %j', (value) => {
    expect(ruleOf(create(), call({ headers: { 'X-A': value } }))).toMatch(/^headers\.X-A|^headers\.x-a/i);
  });

  it('content that JSON cannot hold', () => {
    expect(ruleOf(create(), call({ body: { a: Number.NaN } }))).toMatch(/^content:/);
  });

  it('a mail, where no mails are taken', () => expect(ruleOf(create(), sampleMail())).toMatch(/^kind:/));
});
