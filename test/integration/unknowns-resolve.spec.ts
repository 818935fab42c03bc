import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { appendToOutbox } from '../../src/messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../../src/messaging/outbox/outbox-entry.ts';
import {
  resolveUnknowns,
  type Decided,
  type DecidedOperation,
  type Decision,
} from '../../src/operations/unknowns/resolve-unknowns.ts';
import { ReceiptFactsHandler } from '../../src/receipts/receipt-facts.handler.ts';
import { gateAt, onReach } from '../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { eventually } from '../support/eventually.ts';
import { auditRows, makeUnknown, peopleSteps } from './unknowns-ground.ts';

const HOUR = 3_600_000;

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

async function decide(operations: readonly DecidedOperation[], parts: Partial<Decision> = {}): Promise<Decided> {
  const decision: Decision = {
    tenantId: 'demo',
    actor: 'ann',
    as: 'sent',
    reason: 'asked them',
    until: null,
    ...parts,
  };
  return await resolveUnknowns(rig.dataSource, rig.events, rig.outbox, decision, operations);
}

async function seen(name: string): Promise<DecidedOperation> {
  return { operationKey: name, claimNumber: (await rig.operation(name)).claim_seq };
}

const kinds = (decided: Decided): string[] =>
  decided.kind === 'decided' ? decided.outcomes.map(({ kind }) => kind) : [decided.kind];

async function reportDelivered(name: string): Promise<void> {
  const { operation_id: reference } = await rig.operation(name);
  const occurredAt = new Date().toISOString();
  const data = { provider: 'main', receiptId: `receipt-${name}`, type: 'delivered', occurredAt, reference } as const;
  const event = { id: name, source: '/peer', type: 'x', tenantId: 'demo', time: new Date(), data };
  await rig.inTransaction(async (tx) => {
    const outbox: OutboxEntry[] = [];
    await new ReceiptFactsHandler(rig.events).reported({ events: [event], tx, outbox });
    await appendToOutbox(tx, outbox, rig.outbox);
  });
}

async function somebodyWaits(): Promise<void> {
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await eventually('somebody to wait for a lock', 10_000, async () => (await rig.query(waiting)).length > 0);
}

async function lastResolved(name: string): Promise<Record<string, unknown>> {
  const [row] = await rig.query<{ data: Record<string, unknown> }>(
    `SELECT convert_from(message_value, 'UTF8')::json AS data FROM outbox
     WHERE convert_from(message_value, 'UTF8')::json ->> 'operationKey' = $1 ORDER BY outbox_id DESC LIMIT 1`,
    [name],
  );
  return row?.data ?? {};
}

describe('sent', () => {
  it('makes it accepted, with evidence, audit and event, and nobody is called again', async () => {
    const worker = await makeUnknown(rig, ['a']);
    const before = await seen('a');
    expect(kinds(await decide([before]))).toEqual(['resolved']);
    expect(await rig.operation('a')).toMatchObject({
      state: 'accepted',
      state_reason: 'person: asked them',
      resolved_by: 'person',
      claim_seq: String(Number(before.claimNumber) + 1),
    });
    expect(await auditRows(rig)).toEqual([
      {
        tenant_id: 'demo',
        actor: 'ann',
        action: 'operation.resolve',
        object: 'a',
        reason: 'asked them',
        before: { state: 'unknown', claimNumber: Number(before.claimNumber) },
        after: { state: 'accepted' },
      },
    ]);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved']);
    expect(await lastResolved('a')).toMatchObject({
      state: 'accepted',
      resolvedBy: 'person',
      evidence: [{ step: 'person', outcome: 'sent' }],
    });
    expect(await worker.pipeline.runOnce()).toBe('idle');
    await worker.resolveOnce();
    expect(worker.called).toEqual(['ambiguous']);
  });
});

describe('not-sent', () => {
  it.each([
    ['never arrived', 'dot', 1],
    ['had arrived, whatever the person thought', 'accepted', 2],
  ] as const)('lets it be sent once more where the first call %s', async (_case, phase, mails) => {
    await rig.request(['a']);
    await rig.sink.script([{ phase, times: 1, action: { do: 'drop' } }]);
    const worker = rig.worker();
    await worker.workUntil('it to be unknown', async () => await rig.allIn('unknown'));
    expect(kinds(await decide([await seen('a')], { as: 'not-sent' }))).toEqual(['resolved']);
    expect(await rig.operation('a')).toMatchObject({ state: 'queued', resolved_by: 'person' });
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await worker.pipeline.runOnce()).toBe('idle');
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', mails]]));
    expect([...(await rig.sink.hashes()).values()].map((each) => each.length)).toEqual([1]);
    expect((await rig.attempts('a')).map((each) => each.outcome)).toEqual(['ambiguous', 'accepted']);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved', 'operation.accepted']);
  });
});

describe('wait', () => {
  it('postpones what the policy would do now, and then a person decides', async () => {
    const worker = await makeUnknown(rig, ['a'], { onUnknown: 'resend' });
    const until = new Date(Date.now() + HOUR);
    expect(kinds(await decide([await seen('a')], { as: 'wait', until }))).toEqual(['resolved']);
    const [row] = await rig.query<{ resolve_at: Date }>('SELECT resolve_at FROM operations');
    expect(row?.resolve_at).toEqual(until);
    expect(await auditRows(rig)).toMatchObject([{ after: { state: 'unknown', until: until.toISOString() } }]);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown']);
    // Somebody looks before that time, as after the loss of a worker.
    await rig.query(`UPDATE operations SET resolve_at = '-infinity'`);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'unknown' });
    // Its time passes.
    await rig.query(`UPDATE evidence SET code = $1`, [new Date(Date.now() - 1).toISOString()]);
    await rig.query(`UPDATE operations SET resolve_at = '-infinity'`);
    await worker.resolveOnce();
    expect(await rig.operation('a')).toMatchObject({ state: 'unknown', resolve_at: Number.POSITIVE_INFINITY });
    expect(worker.called).toEqual(['ambiguous']);
  });

  it.each([
    ['until-past', () => new Date(Date.now() - HOUR)],
    ['until-too-far', () => new Date(Date.now() + 30 * 24 * HOUR + HOUR)],
  ] as const)('is refused as %s by the clock of the database, and nothing is written', async (kind, until) => {
    await makeUnknown(rig, ['a']);
    const before = await rig.operation('a');
    expect(kinds(await decide([await seen('a')], { as: 'wait', until: until() }))).toEqual([kind]);
    expect(await rig.operation('a')).toEqual(before);
    expect(await auditRows(rig)).toEqual([]);
  });

  it('may be as long as 30 days', async () => {
    await makeUnknown(rig, ['a']);
    const until = new Date(Date.now() + 30 * 24 * HOUR - HOUR);
    expect(kinds(await decide([await seen('a')], { as: 'wait', until }))).toEqual(['resolved']);
  });
});

describe('a decision that comes too late', () => {
  it('is outdated when the resolver looked meanwhile: it may have found something', async () => {
    const worker = await makeUnknown(rig, ['a']);
    const before = await seen('a');
    await worker.resolveOnce();
    const after = await rig.operation('a');
    const decided = await decide([before]);
    expect(decided).toMatchObject({
      outcomes: [{ kind: 'outdated', now: { state: 'unknown', claimNumber: after.claim_seq } }],
    });
    expect(await rig.operation('a')).toEqual(after);
    expect([await auditRows(rig), await peopleSteps(rig)]).toEqual([[], []]);
    expect(kinds(await decide([await seen('a')]))).toEqual(['resolved']);
  });

  it('is outdated when it is the second, which leaves no trace', async () => {
    await makeUnknown(rig, ['a']);
    const before = await seen('a');
    expect(kinds(await decide([before]))).toEqual(['resolved']);
    const decided = await decide([before], { as: 'not-sent', actor: 'bob' });
    expect(decided).toMatchObject({ outcomes: [{ kind: 'outdated', now: { state: 'accepted' } }] });
    // With the present number as well: it is no longer unknown.
    expect(kinds(await decide([await seen('a')], { as: 'not-sent', actor: 'bob' }))).toEqual(['outdated']);
    expect((await auditRows(rig)).map(({ actor }) => actor)).toEqual(['ann']);
    expect(await peopleSteps(rig)).toEqual(['sent']);
  });

  it('is outdated when two decide at once: one of them wins', async () => {
    await makeUnknown(rig, ['a']);
    const before = await seen('a');
    using gate = gateAt('resolve-by-person.before-commit');
    const first = decide([before]);
    await gate.reached;
    const second = decide([before], { as: 'not-sent', actor: 'bob' });
    await somebodyWaits();
    gate.open();
    expect([kinds(await first), kinds(await second)]).toEqual([['resolved'], ['outdated']]);
    expect((await auditRows(rig)).map(({ actor }) => actor)).toEqual(['ann']);
    expect(await peopleSteps(rig)).toEqual(['sent']);
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted' });
  });

  it('is outdated when a late receipt was first', async () => {
    await makeUnknown(rig, ['a']);
    const before = await seen('a');
    using gate = gateAt('test.before-commit');
    const reported = reportDelivered('a');
    await gate.reached;
    const decided = decide([before], { as: 'not-sent' });
    await somebodyWaits();
    gate.open();
    await reported;
    expect(await decided).toMatchObject({ outcomes: [{ kind: 'outdated', now: { state: 'delivered' } }] });
    expect([await auditRows(rig), await peopleSteps(rig)]).toEqual([[], []]);
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered', resolved_by: 'receipt' });
  });

  it('holds when it was first, and the receipt then says more', async () => {
    await makeUnknown(rig, ['a']);
    const before = await seen('a');
    using gate = gateAt('resolve-by-person.before-commit');
    const decided = decide([before]);
    await gate.reached;
    const reported = reportDelivered('a');
    await somebodyWaits();
    gate.open();
    expect(kinds(await decided)).toEqual(['resolved']);
    await reported;
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered', resolved_by: 'person' });
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved', 'operation.delivered']);
  });

  it('calls nobody when a receipt takes back a "not-sent" in time', async () => {
    const worker = await makeUnknown(rig, ['a']);
    expect(kinds(await decide([await seen('a')], { as: 'not-sent' }))).toEqual(['resolved']);
    await reportDelivered('a');
    expect(await worker.pipeline.runOnce()).toBe('idle');
    expect(await rig.operation('a')).toMatchObject({ state: 'delivered', resolved_by: 'receipt' });
    expect(worker.called).toEqual(['ambiguous']);
  });
});

describe('many at once', () => {
  it('are decided each for itself', async () => {
    const worker = await makeUnknown(rig, ['a', 'b', 'c']);
    const [a, b, c] = [await seen('a'), await seen('b'), await seen('c')];
    await rig.query(`UPDATE operations SET resolve_at = 'infinity' WHERE operation_key <> 'b'`);
    await worker.resolveOnce();
    const decided = await decide([c, { operationKey: 'nobody', claimNumber: '1' }, b, a], { as: 'not-sent' });
    expect(kinds(decided)).toEqual(['resolved', 'not-found', 'outdated', 'resolved']);
    expect(await rig.states()).toEqual({ queued: 2, unknown: 1 });
    expect((await auditRows(rig)).map(({ object }) => object).toSorted()).toEqual(['a', 'c']);
    expect(await rig.eventsOf('b')).not.toContain('operation.resolved');
  });

  it('of another tenant are not there', async () => {
    await makeUnknown(rig, ['a']);
    expect(kinds(await decide([await seen('a')], { tenantId: 'other' }))).toEqual(['not-found']);
    expect(await rig.states()).toEqual({ unknown: 1 });
  });
});

describe('a decision', () => {
  it('is in the audit or has not been made: a failure before the commit leaves nothing', async () => {
    await makeUnknown(rig, ['a']);
    const before = await rig.operation('a');
    const remove = onReach('resolve-by-person.before-commit', () => {
      throw new Error('the process fails here');
    });
    await expect(decide([await seen('a')])).rejects.toThrow('the process fails here');
    remove();
    expect(await rig.operation('a')).toEqual(before);
    expect([await auditRows(rig), await peopleSteps(rig)]).toEqual([[], []]);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown']);
  });

  it('repeats no address of its reason', async () => {
    await makeUnknown(rig, ['a']);
    await decide([await seen('a')], { reason: `bob@example.com has it ${'x'.repeat(1000)}` });
    const texts = await rig.query<{ text: string }>(
      `SELECT state_reason AS text FROM operations UNION ALL SELECT diagnostic FROM evidence
       UNION ALL SELECT reason FROM audit UNION ALL SELECT convert_from(message_value, 'UTF8') FROM outbox`,
    );
    expect(texts.length).toBeGreaterThan(3);
    for (const { text } of texts) expect(text).not.toContain('bob@');
    expect((await lastResolved('a'))['reason']).toMatch(/^person: <address> has it x+$/);
  });
});
