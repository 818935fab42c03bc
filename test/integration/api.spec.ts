import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { campaignReaches, revisionOf, submitAndApprove, subscriberOf } from '../support/campaign.ts';
import { eventually } from '../support/eventually.ts';
import type { ServiceProcess } from '../support/service.ts';
import { createWorld, DEMO_TOKEN, type World } from '../support/world.ts';

const OTHER_TOKEN = 'another-tenants-token';
const BLIND_TOKEN = 'a-token-without-read';

let world: World;
let service: ServiceProcess;

const token = (name: string, text: string, scopes: string[]) => ({
  name,
  sha256: hash('sha256', text, 'hex'),
  scopes,
});

beforeAll(async () => {
  const tenant = { senders: ['example.org'], provider: 'main' };
  world = await createWorld({
    databaseUrl: inject('databaseUrl'),
    kafkaBrokers: inject('kafkaBrokers'),
    config: {
      tenants: {
        other: { ...tenant, tokens: [token('o', OTHER_TOKEN, ['read']), token('b', BLIND_TOKEN, ['request'])] },
      },
    },
  });
  service = await world.start();
  await service.ready();
  await world.peer.publish('einmal.subscriber.upserted.v1', [subscriberOf(1), subscriberOf(2)]);
  await eventually('both subscribers to be consumed', 20_000, async () => {
    return /einmal_records_consumed_total\{[^}]*subscribers[^}]*outcome="fresh"[^}]*\} 2/.test(await metrics());
  });
  await submitAndApprove(world, revisionOf('cmp_api'));
  await campaignReaches(world, service, 'cmp_api', 'completed', 30_000);
});

afterAll(async () => {
  await world.tearDown();
});

async function ask(
  path: string,
  token?: string,
): Promise<{ status: number; type: string; body: Record<string, unknown> }> {
  const response = await fetch(
    `${service.url}${path}`,
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  );
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    body: (await response.json()) as Record<string, unknown>,
  };
}

async function metrics(): Promise<string> {
  return await (await fetch(`${service.url}/metrics`)).text();
}

const OPERATION = `/v1/operations/${encodeURIComponent('campaign:cmp_api:sub_1')}`;

describe('GET /v1/campaigns/{id}', () => {
  it('gives state and counts by state, which add up to the audience', async () => {
    const { status, body } = await ask('/v1/campaigns/cmp_api', DEMO_TOKEN);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      campaignId: 'cmp_api',
      state: 'completed',
      audience: 2,
      counts: { accepted: 2 },
      leftOut: {},
    });
  });
});

describe('GET /v1/operations/{key}', () => {
  it('gives state and the attempts with what the provider said', async () => {
    const { status, body } = await ask(OPERATION, DEMO_TOKEN);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'accepted',
      campaignId: 'cmp_api',
      attempts: [{ outcome: 'accepted', code: 'smtp-250', claimNumber: 1 }],
    });
  });
});

describe('access', () => {
  it.each([
    ['without a token', undefined, 401],
    ['with a token nobody has', 'guess', 401],
    ['with the plain hash of a token', hash('sha256', DEMO_TOKEN, 'hex'), 401],
    ['with a token that lacks the scope', BLIND_TOKEN, 403],
    ['with the token of another tenant', OTHER_TOKEN, 404],
  ])('%s: a problem document and nothing else', async (_name, token, status) => {
    for (const path of ['/v1/campaigns/cmp_api', OPERATION]) {
      const answer = await ask(path, token);
      expect(answer).toMatchObject({
        status,
        type: expect.stringContaining('application/problem+json'),
        body: { status },
      });
      expect(answer.body).not.toHaveProperty('state');
    }
  });

  it.each([
    ['/v1/campaigns/nobody'],
    ['/v1/operations/nobody'],
    ['/v1/operations/%00'],
    ['/v1/nothing'],
    ['/v1/operations/%E0%A4%A'],
  ])('%s is answered with a problem document, not with a failure', async (path) => {
    const { status, type } = await ask(path, DEMO_TOKEN);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(type).toContain('application/problem+json');
  });
});

describe('metrics', () => {
  it('tell what was consumed, attempted and published, without an address', async () => {
    const text = await metrics();
    for (const name of [
      'einmal_records_consumed_total',
      'einmal_operations{state="queued"} 0',
      'einmal_operations{state="accepted"}',
      'einmal_attempts_total{provider="main",outcome="accepted"} 2',
      'einmal_oldest_age_seconds{of="outbox"}',
      'einmal_consumer_lag_records',
      'einmal_outbox_published_total',
    ]) {
      expect(text).toContain(name);
    }
    expect(text).not.toContain('@');
  });
});
