import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../test/support/answering-server.ts';
import { sampleMail, sampleQuery } from '../../test/support/sample-mail.ts';
import { ServiceError } from '../runtime/service-error.ts';
import type { Abilities } from './abilities.ts';
import type { Provider } from './provider.port.ts';
import { postJson } from './mail-api.ts';
import { createWiredProvider, type WiredApi } from './wired-provider.ts';

const ABILITIES: Abilities = {
  key: { kind: 'none' },
  lookup: { kind: 'by-reference', minAgeMs: 1, miss: 'hold' },
  receipt: { kind: 'none' },
  limits: { maxBytes: 1000 },
};

const API: WiredApi = {
  abilities: ABILITIES,
  shape: null,
  credential: [],
  compose: () => ({ ok: true, request: postJson('/send', { a: 1 }) }),
  credentials: async () => await Promise.resolve({}),
  judge: () => ({ kind: 'accepted', effectId: null }),
  lookup: { compose: () => postJson('/find', {}), read: () => 'miss' },
};

function broken(): never {
  throw new ServiceError('broken', 'jane@b.org', { retryable: false });
}

async function sent(provider: Provider) {
  const prepared = provider.prepare(sampleMail(), null);
  if (!prepared.ok) return prepared;
  return await prepared.call.send(20_000);
}

describe('whatever an adapter does', () => {
  let server: AnsweringServer;
  beforeAll(async () => {
    server = await startAnsweringServer({ status: 201 });
  });
  afterAll(async () => await server[Symbol.asyncDispose]());

  const create = (api: Partial<WiredApi> = {}): Provider =>
    createWiredProvider(
      {
        kind: 'http',
        providerName: 'main',
        baseUrl: server.url,
        allowPrivate: true,
        connections: 1,
        timeoutSeconds: 20,
      },
      { ...API, ...api },
    );

  it('an answer that trips it leaves the effect open', async () => {
    expect(await sent(create({ judge: broken }))).toEqual({
      kind: 'ambiguous',
      code: 'http-201',
      diagnostic: 'the answer could not be read (broken)',
    });
  });

  it('a request that cannot be signed is not sent', async () => {
    const before = server.seen.length;
    const unsigned = create({ credentials: async () => await Promise.resolve().then(broken) });
    expect(await sent(unsigned)).toMatchObject({ kind: 'not-sent', code: 'broken' });
    expect(server.seen).toHaveLength(before);
  });

  it('content that it cannot write is refused before the call', async () => {
    expect(await sent(create({ compose: broken }))).toEqual({ ok: false, rule: 'content: cannot be written (broken)' });
  });

  it('a look-up that trips it has failed', async () => {
    const provider = create({ lookup: { compose: () => postJson('/find', {}), read: broken } });
    expect(await provider.lookup?.(sampleQuery(), 20_000)).toMatchObject({ kind: 'failed', code: 'http-201' });
  });

  it('a look-up that it does not claim is not made', () => {
    const without = create({ abilities: { ...ABILITIES, lookup: { kind: 'none' } } });
    expect(without).toHaveProperty('lookup', undefined);
  });

  it('abilities that do not hold together are refused at start', () => {
    const abilities = { ...ABILITIES, limits: { maxBytes: 0 } };
    expect(() => create({ abilities })).toThrow(expect.objectContaining({ code: 'inconsistent-abilities' }) as Error);
  });
});
