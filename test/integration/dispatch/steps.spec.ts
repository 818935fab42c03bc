import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { storeApprovals } from '../../../src/approvals/store-approvals.ts';
import { providerSchemas } from '../../../src/config/provider.schema.ts';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import { operationId, stepReference } from '../../../src/operations/operation-id.ts';
import { queueApproved } from '../../../src/operations/queue-approved/queue-approved.ts';
import { planOperation, type OperationRequest } from '../../../src/operations/request-operations/plan-operation.ts';
import { requestOperations } from '../../../src/operations/request-operations/request-operations.ts';
import { createHttpProvider } from '../../../src/providers/http/http.provider.ts';
import type { Provider } from '../../../src/providers/provider.port.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import type { Worker } from '../../support/dispatch-worker.ts';
import { spawnApiSink, SINK_CREDENTIALS, type ApiSink } from '../../support/sinks/api-sink.ts';

const TENANT = {
  id: 'demo',
  tokens: [],
  senders: ['news@einmal.example'],
  provider: 'main',
  providers: ['main', 'summaries', 'site'],
  keyRetentionDays: 400,
  payloadRetentionDays: 30,
  afterKeyRetention: 'tombstone',
  onUnknown: 'hold',
} as const;

type Step = Extract<OperationRequest, { kind: 'steps' }>['request']['steps'][number];
type HttpStep = Extract<Step, { kind: 'http' }>;

let rig: DispatchRig;
let api: ApiSink;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
  api = await spawnApiSink();
});
afterAll(async () => {
  await rig.tearDown();
  await api.stop();
});
beforeEach(async () => await rig.reset());
afterEach(async () => {
  await api.release();
  await api.reset();
});

/** One endpoint of the sink; its key replays the first answer. */
function endpoint(name: string, profile = 'replay'): Provider {
  const config = providerSchemas.http.parse({
    kind: 'http',
    baseUrl: `${api.apiUrl}/generic/${profile}`,
    allowPrivate: true,
    auth: { bearer: SINK_CREDENTIALS.apiKey },
    key: { kind: 'replay', windowSeconds: 3600 },
    effectId: { jsonPath: '$.data.id' },
    timeoutSeconds: 2,
  });
  return createHttpProvider({ ...config, providerName: name });
}

/** A summary is fetched, published under approval, and a notice of it is mailed: the example of the documentation. */
const EXAMPLE = JSON.parse(
  readFileSync(new URL('../../../docs/examples/publish-brief.json', import.meta.url), 'utf8'),
) as Extract<OperationRequest, { kind: 'steps' }>;
const [SUMMARY, PUBLISH, NOTICE] = EXAMPLE.request.steps as [HttpStep, HttpStep, Step];

async function request(
  steps: readonly unknown[],
  key = 'brief',
  more: Partial<OperationRequest> = {},
): Promise<string[]> {
  const data = { operationKey: key, kind: 'steps', request: { steps }, ...more } as OperationRequest;
  const event = { id: `e-${key}`, source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    const planned = planOperation(event, TENANT, { maxAttempts: 3 });
    await requestOperations(tx, outbox, rig.events, [planned]);
    await appendToOutbox(tx, outbox, rig.outbox);
  });
  return await rig.eventsOf(key);
}

async function approve(object: string, revision: number, hash: string): Promise<void> {
  await rig.inTransaction(async (tx) => {
    await storeApprovals(tx, [
      {
        tenantId: 'demo',
        object,
        revision,
        hash,
        granted: true,
        decidedBy: 'editor',
        reason: null,
        expiresAt: null,
        factTime: new Date(),
      },
    ]);
    await queueApproved(tx, [{ tenantId: 'demo', object }]);
  });
}

async function inputHash(): Promise<string> {
  const [row] = await rig.query<{ hash: string }>(
    `SELECT 'sha256:' || encode(approval_hash, 'hex') AS hash FROM operations`,
  );
  return row?.hash ?? '';
}

const worker = (): Worker => rig.worker({ endpoints: [endpoint('summaries'), endpoint('site')] });

async function effects(): Promise<Record<string, number>> {
  return Object.fromEntries(await api.counts('generic-replay'));
}

/** What the sink knows the summary by. */
const OF = 'summary-of-brief-042';

const checkpoints = async () =>
  await rig.query<{ name: string; effect_id: string | null }>('SELECT name, effect_id FROM checkpoints ORDER BY step');

describe('an operation of several steps', () => {
  it('is done in order: fetched, published under approval, and a notice is mailed', async () => {
    expect(await request([SUMMARY, PUBLISH, NOTICE])).toEqual(['operation.queued']);
    const dispatcher = worker();
    await dispatcher.workUntil('the approval to be waited for', async () => await rig.allIn('awaiting-approval'));
    expect(await effects()).toEqual({ [OF]: 1 });

    await approve('publish:brief-042', 3, 'sha256:'.padEnd(71, '0'));
    await dispatcher.pipeline.runOnce();
    expect(await rig.operation('brief')).toMatchObject({ state: 'awaiting-approval' });

    await approve('publish:brief-042', 3, await inputHash());
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    const [summary, published, notice] = await checkpoints();
    expect(await effects()).toEqual({ [OF]: 1, [`published-${summary?.effect_id}`]: 1 });
    expect(await rig.sink.recipients()).toEqual(new Map([['ada@example.com', 1]]));
    expect([summary?.name, published?.name, notice?.name]).toEqual(['summary', 'publish', 'notice']);
    expect(await rig.eventsOf('brief')).toEqual(['operation.queued', 'operation.accepted']);
    expect(await rig.operation('brief')).toMatchObject({ effect_id: notice?.effect_id });
  });

  it('gives each step a key of its own, the same at every attempt', async () => {
    await api.script('generic-replay', [{ phase: 'body', action: { do: 'refuse', as: 'throttled' }, times: 1 }]);
    await request([SUMMARY, { ...NOTICE, request: { ...NOTICE.request, subject: 'x', html: 'x', text: 'x' } }]);
    const dispatcher = worker();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    const id = operationId('demo', 'brief');
    const [row] = await rig.query<{ references: string[] }>(
      'SELECT array_agg(reference::text ORDER BY step) AS references FROM step_references',
    );
    expect(row?.references).toEqual([stepReference(id, 'summary', 1), stepReference(id, 'notice', 1)]);
    expect([...(await rig.sink.counts()).keys()]).toEqual([`<${stepReference(id, 'notice', 1)}@einmal.example>`]);
  });

  it('goes on at the step that has no checkpoint, when its worker was lost after the others', async () => {
    await request([SUMMARY, { ...PUBLISH, approval: undefined }]);
    const lost = worker();
    using gate = gateAt('dispatch.before-call');
    const way = lost.workUntil('the first call', async () => (await checkpoints()).length === 1);
    await gate.reached;
    gate.open();
    await way;
    await lost.close();
    await rig.endLeases();
    await rig.rescue();
    const next = worker();
    await next.workUntil('it to be accepted', async () => {
      await next.resolveOnce();
      return await rig.allIn('accepted');
    });
    const [summary] = await checkpoints();
    expect(await effects()).toEqual({ [OF]: 1, [`published-${summary?.effect_id}`]: 1 });
  });

  it('resolves an unknown step by its key, and goes on with what the replay has answered', async () => {
    await api.script('generic-replay', [{ phase: 'accepted', action: { do: 'drop' }, times: 1 }]);
    await request([SUMMARY, { ...PUBLISH, approval: undefined }]);
    const dispatcher = worker();
    await dispatcher.workUntil('it to be accepted', async () => {
      await dispatcher.resolveOnce();
      return await rig.allIn('accepted');
    });
    const [summary] = await checkpoints();
    expect(await effects()).toEqual({ [OF]: 1, [`published-${summary?.effect_id}`]: 1 });
  });

  it.each<[string, readonly unknown[], string]>([
    [
      'asks for a step that is not before it',
      [PUBLISH, SUMMARY],
      'request.steps.publish.request: no step summary is before it',
    ],
    [
      'names an endpoint that is not configured',
      [{ ...SUMMARY, request: { ...SUMMARY.request, endpoint: 'nowhere' } }],
      'request.steps.summary.request.endpoint: no endpoint of this name is configured',
    ],
    [
      'has a text that is no template',
      [{ ...SUMMARY, request: { ...SUMMARY.request, body: '{{ steps.' } }],
      'request.steps.summary.request: ',
    ],
  ])('is rejected before anything is done when a step %s', async (_label, steps, rule) => {
    expect(await request(steps)).toEqual(['operation.rejected']);
    expect((await rig.operation('brief')).state_reason).toContain(rule);
  });

  it('ends where a later step cannot be made of what the earlier ones have answered', async () => {
    const broken = { ...PUBLISH, request: { ...PUBLISH.request, path: '/{{ steps.summary.result.nothing }}' } };
    await request([SUMMARY, { ...broken, approval: undefined }]);
    const dispatcher = worker();
    await dispatcher.workUntil('it to be rejected', async () => await rig.allIn('rejected'));
    expect((await rig.operation('brief')).state_reason).toContain('publish: path');
    expect(await effects()).toEqual({ [OF]: 1 });
  });

  it('keeps what a result says from being anything but a value', async () => {
    const said = 'x?y=1#{{ steps }}';
    await request([
      { ...SUMMARY, request: { ...SUMMARY.request, body: { reference: `{{ "${said}" }}` } } },
      {
        ...PUBLISH,
        approval: undefined,
        request: {
          ...PUBLISH.request,
          path: '/briefs/{{ steps.summary.result.data.reference }}',
          body: { reference: 'of {{ steps.summary.result.data.reference }}' },
        },
      },
    ]);
    const dispatcher = worker();
    await dispatcher.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await effects()).toEqual({ [said]: 1, [`of ${said}`]: 1 });
    expect(await api.strays()).toEqual([]);
  });

  it('does not let a result lead to another path of the endpoint', async () => {
    await request([
      { ...SUMMARY, request: { ...SUMMARY.request, body: { reference: 'a/../../admin' } } },
      {
        ...PUBLISH,
        approval: undefined,
        request: { ...PUBLISH.request, path: '/briefs/{{ steps.summary.result.data.reference }}' },
      },
    ]);
    const dispatcher = worker();
    await dispatcher.workUntil('it to be rejected', async () => await rig.allIn('rejected'));
    expect(await effects()).toEqual({ 'a/../../admin': 1 });
  });
});
