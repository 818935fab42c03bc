import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { takeToken } from '../../src/tenants/take-token.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';
import { createApiGround, type ApiGround } from './api-ground.ts';

let ground: ApiGround;
let rig: DispatchRig;

beforeAll(async () => {
  ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'), {
    tokens: {
      reader: { rate: { perSecond: 0.001, burst: 3 } },
      requester: { expiresAt: '2020-01-01T00:00:00Z' },
      decider: { expiresAt: '2999-01-01T00:00:00Z', scopes: ['read'] },
    },
  });
  rig = ground.rig;
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => void (await rig.query('TRUNCATE token_rates')));

describe('the rate of a token', () => {
  it('lets its burst through, then says 429 with the time to wait', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => await ground.get('/v1/providers', 'reader')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    for (const { type, body, headers } of refused) {
      expect(type).toContain('application/problem+json');
      expect(body).toMatchObject({ type: '/problems/too-many-requests', title: 'Too Many Requests' });
      const seconds = Number(headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(900);
      expect(seconds).toBeLessThanOrEqual(1000);
      expect(body['retryAfterSeconds']).toBe(seconds);
    }
    expect((await ground.get('/v1/providers')).status).toBe(200);
  });

  it('fills up with time, and never above its burst', async () => {
    const rate = { name: 't', rate: { perSecond: 2, burst: 4 }, expiresAt: null };
    const taken = async (): Promise<number> => {
      const outcomes = await Promise.all(
        Array.from({ length: 9 }, async () => await takeToken(rig.dataSource, 'demo', rate)),
      );
      return outcomes.filter(({ kind }) => kind === 'taken').length;
    };
    const past = async (seconds: number): Promise<void> =>
      void (await rig.query(`UPDATE token_rates SET tokens = 0, refilled_at = now() - make_interval(secs => $1)`, [
        seconds,
      ]));
    expect(await taken()).toBe(4);
    await past(1);
    expect(await taken()).toBeGreaterThanOrEqual(2);
    await past(3600);
    expect(await taken()).toBeGreaterThanOrEqual(4);
    expect(await rig.query('SELECT FROM token_rates WHERE tokens > 4')).toEqual([]);
  });

  it('is not given twice when time seems to run backwards', async () => {
    const token = { name: 't', rate: { perSecond: 1, burst: 1 }, expiresAt: null };
    await takeToken(rig.dataSource, 'demo', token);
    await rig.query(`UPDATE token_rates SET refilled_at = now() + interval '1 hour'`);
    expect(await takeToken(rig.dataSource, 'demo', token)).toEqual({
      kind: 'used-up',
      waitSeconds: expect.any(Number),
    });
  });

  it('is one of a tenant and a name', async () => {
    const token = { name: 't', rate: { perSecond: 0.001, burst: 1 }, expiresAt: null };
    expect(await takeToken(rig.dataSource, 'demo', token)).toEqual({ kind: 'taken' });
    expect(await takeToken(rig.dataSource, 'other', token)).toEqual({ kind: 'taken' });
    expect(await takeToken(rig.dataSource, 'demo', { ...token, name: 'u' })).toEqual({ kind: 'taken' });
    expect(await takeToken(rig.dataSource, 'demo', token)).toMatchObject({ kind: 'used-up' });
  });
});

describe('a token that expires', () => {
  it('is refused from then on', async () => {
    expect(await ground.post('/v1/operations', {}, { token: 'requester' })).toMatchObject({
      status: 401,
      body: { detail: 'Authorization: the token has expired' },
    });
    expect((await ground.get('/v1/providers', 'decider')).status).toBe(200);
  });
});
