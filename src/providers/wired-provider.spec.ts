import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnsweringServer } from '../../test/support/answering-server.ts';
import { sampleMail, sampleQuery } from '../../test/support/sample-mail.ts';
import { ServiceError } from '../runtime/service-error.ts';
import type { Abilities } from './abilities.ts';
import type { PreparedCall, Provider } from './provider.port.ts';
import { postJson, postList } from './mail-api.ts';
import { createWiredProvider, type WiredApi, type WiredBatch } from './wired-provider.ts';

const ABILITIES: Abilities = {
  key: { kind: 'none' },
  lookup: { kind: 'by-reference', minAgeMs: 1, miss: 'hold' },
  receipt: { kind: 'none' },
  batch: { kind: 'none' },
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

function callOf(provider: Provider): PreparedCall {
  const prepared = provider.prepare(sampleMail(), null);
  if (!prepared.ok) throw new Error(prepared.rule);
  return prepared.call;
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

  describe('in a batch', () => {
    const BATCH: WiredBatch = {
      compose: (requests, key) => postList('/batch', requests, { key }),
      judge: (_answer, messages) => Array.from({ length: messages }, () => ({ kind: 'accepted', effectId: null })),
    };
    const abilities: Abilities = { ...ABILITIES, batch: { kind: 'per-message', max: 2, maxBytes: 1000 } };

    async function sentTwice(batch: Partial<WiredBatch>) {
      const provider = create({ abilities, batch: { ...BATCH, ...batch } });
      const call = callOf(provider);
      return await provider.prepareBatch?.([call, call], 'k').send(20_000);
    }

    it('an answer that does not fit the messages leaves all effects open', async () => {
      const one = { kind: 'accepted', effectId: 'a' } as const;
      for (const verdicts of [[], [one], [one, one, one]]) {
        expect(await sentTwice({ judge: () => verdicts })).toEqual([
          { kind: 'ambiguous', code: 'http-201', diagnostic: 'the answer does not fit the messages' },
          { kind: 'ambiguous', code: 'http-201', diagnostic: 'the answer does not fit the messages' },
        ]);
      }
    });

    it('an answer that trips it leaves all effects open', async () => {
      const open = { kind: 'ambiguous', code: 'http-201', diagnostic: 'the answer could not be read (broken)' };
      expect(await sentTwice({ judge: broken })).toEqual([open, open]);
    });

    it('the answer is read whole where each message has as much to say as alone', async () => {
      server.answer({ status: 201, body: 'x'.repeat(262_144 + 8_000) });
      let whole: boolean | null = null;
      const judge: WiredBatch['judge'] = (answer, messages) => {
        ({ whole } = answer);
        return BATCH.judge(answer, messages);
      };
      expect(await sentTwice({ judge })).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }]);
      expect(whole).toBe(true);
      server.answer({ status: 201 });
    });

    it('the bytes are the same for the same calls under the same key, and for nothing else', () => {
      const provider = create({ abilities, batch: BATCH });
      const hashOf = (count: number, key: string) =>
        provider
          .prepareBatch?.(
            Array.from({ length: count }, () => callOf(provider)),
            key,
          )
          .hash.toString('hex');
      expect(hashOf(2, 'k')).toBe(hashOf(2, 'k'));
      expect(hashOf(2, 'k')).toMatch(/^[0-9a-f]{64}$/);
      expect(new Set([hashOf(2, 'k'), hashOf(1, 'k'), hashOf(2, 'l')]).size).toBe(3);
    });

    it('is no place for what is larger than its share', () => {
      const small = create({
        abilities: { ...abilities, batch: { kind: 'per-message', max: 10, maxBytes: 100 } },
        batch: BATCH,
      });
      expect(callOf(small).batchable).toBe(false);
      expect(callOf(create({ abilities, batch: BATCH })).batchable).toBe(true);
      expect(callOf(create({ batch: BATCH })).batchable).toBe(false);
    });

    it('is no place for what another has prepared', () => {
      const [one, two] = [create({ abilities, batch: BATCH }), create({ abilities, batch: BATCH })];
      expect(() => one.prepareBatch?.([callOf(two)], 'k')).toThrow(
        expect.objectContaining({ code: 'foreign-call' }) as Error,
      );
    });

    it('that it cannot make, it must not claim', () => {
      expect(() => create({ abilities })).toThrow(expect.objectContaining({ code: 'inconsistent-abilities' }) as Error);
      expect(create()).not.toHaveProperty('prepareBatch', expect.any(Function));
    });

    it.each<[Abilities['batch'], Abilities['key']]>([
      [{ kind: 'per-message', max: 1, maxBytes: 1000 }, { kind: 'none' }],
      [{ kind: 'per-message', max: 2.5, maxBytes: 1000 }, { kind: 'none' }],
      [{ kind: 'per-message', max: 2, maxBytes: 0 }, { kind: 'none' }],
      [
        { kind: 'per-message', max: 2, maxBytes: 1000 },
        { kind: 'replay', windowMs: 2, marginMs: 1, comparesPayload: true, scope: 'recipient' },
      ],
    ])('%j with %j does not hold together', (batch, key) => {
      const wrong = { ...abilities, batch, key };
      expect(() => create({ abilities: wrong, batch: BATCH })).toThrow(
        expect.objectContaining({ code: 'inconsistent-abilities' }) as Error,
      );
    });
  });

  it('abilities that do not hold together are refused at start', () => {
    const abilities = { ...ABILITIES, limits: { maxBytes: 0 } };
    expect(() => create({ abilities })).toThrow(expect.objectContaining({ code: 'inconsistent-abilities' }) as Error);
  });
});
