import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { appendToOutbox } from '../../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../../src/messaging/outbox/outbox-entry.ts';
import { stepReference } from '../../../src/operations/operation-id.ts';
import { planOperation, type OperationRequest } from '../../../src/operations/request-operations/plan-operation.ts';
import { requestOperations } from '../../../src/operations/request-operations/request-operations.ts';
import { resolveUnknowns } from '../../../src/operations/unknowns/resolve-unknowns.ts';
import type { CallOutcome, Outgoing, Prepared } from '../../../src/providers/provider.port.ts';
import { ReceiptFactsHandler } from '../../../src/receipts/receipt-facts.handler.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ACCEPTED, ScriptedProvider, type Worker } from '../../support/dispatch-worker.ts';
import { eventually } from '../../support/eventually.ts';

const AMBIGUOUS: CallOutcome = { kind: 'ambiguous', code: 'timeout', diagnostic: 'no answer in time' };

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

/** An endpoint that answers as it is told, and remembers the bodies. */
class ScriptedHttp extends ScriptedProvider {
  override readonly name = 'site';
  readonly bodies: unknown[] = [];
  readonly #say: (nth: number) => CallOutcome;

  constructor(say: (nth: number) => CallOutcome) {
    super();
    this.#say = say;
  }

  override prepare(outgoing: Outgoing): Prepared {
    if (outgoing.kind !== 'http') return { ok: false, rule: 'kind: takes calls only' };
    const hash = createHash('sha256').update(JSON.stringify(outgoing)).digest();
    const send = async (): Promise<CallOutcome> => {
      this.bodies.push(outgoing.body);
      return await Promise.resolve(this.#say(this.bodies.length));
    };
    return { ok: true, call: { hash, send } };
  }
}

const TENANT = {
  id: 'demo',
  tokens: [],
  senders: ['news@einmal.example'],
  provider: 'main',
  providers: ['main', 'site'],
  keyRetentionDays: 400,
  payloadRetentionDays: 30,
  afterKeyRetention: 'tombstone',
  onUnknown: 'hold',
} as const;

const mail = (name: string, text = 'x', approval?: object) => ({
  name,
  version: 1,
  kind: 'email',
  ...(approval ? { approval } : {}),
  request: { to: `${name}@example.com`, subject: name, text },
});
const call = (name: string, body: unknown, approval?: object) => ({
  name,
  version: 1,
  kind: 'http',
  ...(approval ? { approval } : {}),
  request: { endpoint: 'site', method: 'POST', path: '/x', body },
});
const APPROVAL = { object: 'offer', revision: 1 };

async function request(key: string, steps: readonly object[], peers: ReadonlySet<string> = new Set()): Promise<void> {
  const data = { operationKey: key, kind: 'steps', request: { steps } } as unknown as OperationRequest;
  const event = { id: `e-${key}`, source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    await requestOperations(tx, outbox, rig.events, [planOperation(event, TENANT, { maxAttempts: 3, peers })]);
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

async function report(reference: string, type: 'delivered' | 'bounced' = 'delivered'): Promise<void> {
  const data = { provider: 'main', receiptId: `r-${type}`, reference, type, occurredAt: new Date().toISOString() };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    const event = { id: 'r', source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
    await new ReceiptFactsHandler(rig.events).reported({ events: [event], tx, outbox });
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

async function unknownAtFirst(key: string, steps: readonly object[]): Promise<Worker> {
  await request(key, steps);
  const provider = new ScriptedProvider((_mail, nth) => (nth === 1 ? AMBIGUOUS : ACCEPTED));
  const worker = rig.worker({ provider });
  await worker.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
  return worker;
}

async function decide(key: string) {
  const { claim_seq: claimNumber } = await rig.operation(key);
  const decision = { tenantId: 'demo', actor: 'ann', as: 'sent', reason: 'seen', until: null } as const;
  const operations = [{ operationKey: key, claimNumber }];
  return await resolveUnknowns(rig.dataSource, rig.events, rig.outbox, decision, operations);
}

async function told(key: string): Promise<string[]> {
  const rows = await rig.query<{ said: string }>(
    `SELECT (SELECT h ->> 1 FROM json_array_elements(headers) h WHERE h ->> 0 = 'ce_type') || ' '
       || (convert_from(message_value, 'UTF8')::json ->> 'state') AS said
     FROM outbox WHERE convert_from(message_value, 'UTF8')::json ->> 'operationKey' = $1 ORDER BY outbox_id`,
    [key],
  );
  return rows.map(({ said }) => said.replace(/^einmal\.operation\.|\.v1/g, ''));
}

describe('a step that is resolved', () => {
  it('by a person is told with the state of the whole, and the answer and the audit say the same', async () => {
    await unknownAtFirst('a', [mail('one'), mail('two')]);
    expect(await decide('a')).toMatchObject({ outcomes: [{ kind: 'resolved', now: { state: 'queued' } }] });
    expect(await told('a')).toEqual(['queued queued', 'unknown unknown', 'resolved queued']);
    expect(await rig.query(`SELECT after ->> 'state' AS state FROM audit`)).toEqual([{ state: 'queued' }]);
  });

  it('and whose next one cannot be made is told as rejected last', async () => {
    await unknownAtFirst('a', [mail('one'), call('two', '{{ steps.one.result.x }}', APPROVAL)]);
    expect(await decide('a')).toMatchObject({ outcomes: [{ kind: 'resolved', now: { state: 'rejected' } }] });
    expect((await told('a')).slice(-2)).toEqual(['resolved rejected', 'rejected rejected']);
  });

  it('by a receipt does not make the whole delivered', async () => {
    await unknownAtFirst('a', [mail('one'), mail('two')]);
    const { operation_id: id } = await rig.operation('a');
    await report(stepReference(id, 'one', 1));
    expect(await rig.operation('a')).toMatchObject({ state: 'queued' });
    expect((await told('a')).at(-1)).toBe('resolved queued');
  });

  it('keeps the answer that came too late, and later steps use it', async () => {
    await request('a', [call('one', 'x'), call('two', '{{ steps.one.result.id }}')]);
    const site = new ScriptedHttp((nth) => ({ ...ACCEPTED, result: { id: nth } }));
    const worker = rig.worker({ endpoints: [site] });
    using gate = gateAt('dispatch.after-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    await rig.endLeases();
    await rig.rescue();
    gate.open();
    await eventually('the loss', 10_000, () => worker.claimLost.length > 0);
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(site.bodies).toEqual(['x', 1]);
  });
});

describe('what nobody can make or store', () => {
  it.each([
    ['a name with U+0000', { 'a\u0000b': '{{ steps.one.result.x }}' }],
    ['a name with a lone surrogate', { 'a\ud800b': '{{ steps.one.result.x }}' }],
  ])('%s ends its own operation, and holds up no other', async (_label, body) => {
    await request('poison', [mail('one'), call('two', body, APPROVAL)]);
    await rig.request(['innocent']);
    const worker = rig.worker({ provider: new ScriptedProvider() });
    await worker.workUntil('both to end', async () => await rig.allIn('accepted', 'rejected'));
    expect(await rig.states()).toEqual({ accepted: 1, rejected: 1 });
  });

  it('an answer that is nested too deeply to be hashed ends its own operation', async () => {
    await request('a', [call('one', 'x'), call('two', '{{ steps.one.result }}', APPROVAL)]);
    const deep: unknown = JSON.parse('['.repeat(600) + ']'.repeat(600));
    const worker = rig.worker({ endpoints: [new ScriptedHttp(() => ({ ...ACCEPTED, result: deep }))] });
    await worker.workUntil('it to be rejected', async () => await rig.allIn('rejected'));
    expect((await rig.operation('a')).state_reason).toContain('two: not JSON that can be hashed');
  });

  it('a request that was erased in the middle: the whole is not accepted', async () => {
    await request('a', [mail('one'), mail('two')]);
    const worker = rig.worker({ provider: new ScriptedProvider() });
    using gate = gateAt('dispatch.after-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    await rig.query('DELETE FROM operation_requests');
    gate.open();
    await worker.workUntil('it to end', async () => await rig.allIn('accepted', 'rejected'));
    expect(await rig.operation('a')).toMatchObject({
      state: 'rejected',
      state_reason: 'the request of the next step is no longer there',
    });
    expect((await told('a')).at(-1)).toBe('rejected rejected');
  });

  it('a step of a peer on Kafka is rejected before anything is done', async () => {
    await request('a', [call('one', 'x'), mail('two')], new Set(['main']));
    expect(await rig.operation('a')).toMatchObject({
      state: 'rejected',
      state_reason: 'request.steps.two: a peer on Kafka does no steps',
    });
  });
});

describe('a campaign that does not send', () => {
  it('has no replay either: it might be the first call that arrives', async () => {
    const key = {
      kind: 'replay',
      windowMs: 3_600_000,
      marginMs: 1_000,
      comparesPayload: true,
      scope: 'request',
    } as const;
    const provider = new ScriptedProvider((_mail, nth) => (nth === 1 ? AMBIGUOUS : ACCEPTED), 4, { key });
    await rig.campaign('spring', ['a']);
    const worker = rig.worker({ provider });
    await worker.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
    await rig.query(`UPDATE campaigns SET state = 'paused'`);
    await worker.resolveOnce();
    expect(provider.calls).toHaveLength(1);
    expect(await rig.query('SELECT outcome FROM evidence')).toEqual([{ outcome: 'held-back' }]);
    await rig.query(`UPDATE campaigns SET state = 'sending'`);
    await rig.query(`UPDATE evidence SET at = at - interval '1 minute'`);
    await rig.query(`UPDATE operations SET resolve_at = '-infinity', unknown_since = now() - interval '2 minutes'`);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted' });
  });
});
