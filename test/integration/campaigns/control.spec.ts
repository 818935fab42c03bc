import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { resolveUnknowns } from '../../../src/operations/unknowns/resolve-unknowns.ts';
import { createCampaignRig, many, type CampaignRig } from '../../support/campaign-rig.ts';
import { eventually } from '../../support/eventually.ts';
import { genericPlan } from '../../support/generic-plan.ts';

let rig: CampaignRig;

beforeAll(async () => {
  rig = await createCampaignRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

async function sending(count: number): Promise<void> {
  await rig.subscribe(many(count));
  await rig.approved('c');
  await rig.materialise();
}

/** Sends until some are out, then stops by `control`, and waits until nothing is in the air. */
async function stopInTheMiddle(control: 'pause' | 'cancel'): Promise<number> {
  const worker = rig.worker({ connections: 2 });
  await worker.workUntil('some to be out', async () => (await rig.sink.stats()).accepted > 20);
  await rig.control(control, 'c');
  await worker.workUntil('nothing in the air', async () => await rig.allIn('accepted', 'queued', 'cancelled'));
  return (await rig.sink.stats()).transactions;
}

/** One was unknown when its campaign was cancelled long ago, and now it is known not to have been sent. */
async function decidedNotSent(): Promise<void> {
  await sending(1);
  await rig.sink.script([{ phase: 'accepted', action: { do: 'drop' } }]);
  await rig.worker().workUntil('it to be unknown', async () => await rig.allIn('unknown'));
  await rig.control('cancel', 'c');
  await rig.query(`UPDATE campaigns SET ended_at = now() - interval '200 days'`);
  const [row] = await rig.query<{ operation_key: string; claim_seq: string }>(
    'SELECT operation_key, claim_seq FROM operations',
  );
  const decision = { tenantId: 'demo', actor: 'a person', as: 'not-sent', reason: 'looked', until: null } as const;
  await resolveUnknowns(rig.dataSource, rig.events, rig.outbox, decision, [
    { operationKey: row?.operation_key ?? '', claimNumber: row?.claim_seq ?? '' },
  ]);
  expect(await rig.states()).toEqual({ queued: 1 });
}

describe('a pause', () => {
  it('stops the calls; a resume sends the rest, each once', async () => {
    await sending(300);
    const out = await stopInTheMiddle('pause');
    expect(out).toBeLessThan(300);
    const worker = rig.worker();
    for (let pass = 0; pass < 5; pass++) expect(await worker.pipeline.runOnce()).toBe('idle');
    expect((await rig.sink.stats()).transactions).toBe(out);
    expect(await rig.complete()).toBe(0);
    await rig.control('resume', 'c');
    await worker.workUntil('all', async () => await rig.allIn('accepted'));
    expect(await rig.sink.stats()).toMatchObject({ accepted: 300, distinct: 300, doubled: 0 });
    expect(await rig.complete()).toBe(1);
    const events = (await rig.eventsOf()).filter((type) => type.startsWith('campaign.'));
    expect(events.slice(-3)).toEqual(['campaign.paused', 'campaign.resumed', 'campaign.completed']);
  });

  it('of what is paused is refused with that reason', async () => {
    await sending(1);
    await rig.control('pause', 'c');
    await rig.control('pause', 'c');
    const [row] = await rig.query<{ reason: string }>(
      `SELECT convert_from(message_value, 'UTF8')::json ->> 'reason' AS reason FROM outbox ORDER BY outbox_id DESC LIMIT 1`,
    );
    expect(row?.reason).toBe('state-does-not-allow-it');
  });

  it.each([
    ['withdrawn', `granted = false, hash = NULL`],
    ['expired', `expires_at = now() - interval '1 second'`],
  ])('is not ended when the approval is %s', async (_what, change) => {
    await sending(1);
    await rig.control('pause', 'c');
    await rig.query(`UPDATE approvals SET ${change}`);
    await rig.control('resume', 'c');
    expect((await rig.read('c')).state).toBe('paused');
    expect((await rig.eventsOf()).at(-1)).toBe('campaign.refused');
  });
});

describe('a cancellation', () => {
  it('stops the calls and ends the rest, each with an event', async () => {
    await sending(300);
    const out = await stopInTheMiddle('cancel');
    expect(out).toBeLessThan(300);
    while ((await rig.cancelRemaining(70)) > 0);
    expect(await rig.states()).toEqual({ accepted: out, cancelled: 300 - out });
    const events = await rig.eventsOf();
    expect(events.filter((type) => type === 'operation.cancelled')).toHaveLength(300 - out);
    expect(await rig.worker().pipeline.runOnce()).toBe('idle');
    expect((await rig.sink.stats()).transactions).toBe(out);
    await rig.control('resume', 'c');
    expect((await rig.read('c')).state).toBe('cancelled');
  });

  it('reaches what comes back to the queue later', async () => {
    await sending(1);
    await rig.sink.script([{ phase: 'rcpt', action: { do: 'stall' } }]);
    const worker = rig.worker({ connections: 1, timeoutMs: 20_000 });
    await worker.workUntil('the call', async () => (await rig.sink.stats()).stalled === 1);
    await rig.control('cancel', 'c');
    expect(await rig.cancelRemaining()).toBe(0);
    await rig.sink.script([{ phase: 'dot', action: { do: 'reply', line: '451 4.3.0 later' } }]);
    await rig.sink.release();
    await eventually('it to come back', 10_000, async () => await rig.allIn('queued'));
    expect(await rig.cancelRemaining()).toBe(1);
    expect(await rig.states()).toEqual({ cancelled: 1 });
    expect((await rig.sink.stats()).accepted).toBe(0);
  });
});

describe('what a cancelled campaign left unknown', () => {
  it('is cancelled when it is decided not to have been sent, however long ago the campaign ended', async () => {
    await decidedNotSent();
    expect(await rig.cancelRemaining()).toBe(1);
    expect(await rig.states()).toEqual({ cancelled: 1 });
  });

  it('is looked for by indexes, and only in campaigns that are not scrubbed', async () => {
    await decidedNotSent();
    await rig.query('UPDATE campaigns SET scrubbed_at = now()');
    expect(await rig.cancelRemaining()).toBe(0);
    const plan = await genericPlan(rig, 'campaigns/control-campaign/cancel-remaining.sql');
    expect(plan).toMatch(/Index Scan using campaigns_in_motion .*\n *Index Cond: .*state = 'cancelled'/);
    expect(plan).toMatch(/Index Scan using operations_queued .*\n *Index Cond: .*COALESCE\(campaign_id/);
    expect(plan).not.toContain('Seq Scan');
  });
});

describe('completion', () => {
  it('waits for all, and for what is unknown', async () => {
    await sending(5);
    expect(await rig.complete()).toBe(0);
    await rig.sink.script([
      { phase: 'accepted', recipient: 's0002', action: { do: 'drop' } },
      { phase: 'rcpt', recipient: 's0003', action: { do: 'reply', line: '550 5.1.1 no such user' } },
    ]);
    await rig.suppress('s0004');
    await rig.worker().workUntil('all to end', async () => {
      return await rig.allIn('accepted', 'unknown', 'rejected', 'suppressed');
    });
    expect(await rig.states()).toEqual({ accepted: 2, unknown: 1, rejected: 1, suppressed: 1 });
    expect(await rig.complete()).toBe(0);
    expect((await rig.read('c')).state).toBe('sending');
    await rig.query(`UPDATE operations SET state = 'accepted' WHERE state = 'unknown'`);
    expect(await rig.complete()).toBe(1);
    expect(await rig.complete()).toBe(0);
    expect((await rig.read('c')).state).toBe('completed');
    const [row] = await rig.query<{ counts: unknown }>(
      `SELECT convert_from(message_value, 'UTF8')::json -> 'counts' AS counts FROM outbox ORDER BY outbox_id DESC LIMIT 1`,
    );
    expect(row?.counts).toEqual({ accepted: 3, rejected: 1, suppressed: 1 });
  });

  it('is not told of a campaign that lacks some of its audience', async () => {
    await sending(3);
    await rig.worker().workUntil('all', async () => await rig.allIn('accepted'));
    await rig.query('UPDATE campaigns SET audience = 4');
    expect(await rig.complete()).toBe(0);
  });
});

describe('a time to start', () => {
  it('is waited for, by the clock of the database', async () => {
    await rig.subscribe(many(2));
    await rig.approved('c', { scheduledFor: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await rig.start()).toBe(1);
    expect((await rig.read('c')).state).toBe('scheduled');
    expect(await rig.start()).toBe(0);
    expect(await rig.page()).toBe('idle');
    await rig.query('UPDATE campaigns SET scheduled_for = now()');
    await rig.materialise();
    expect(await rig.read('c')).toMatchObject({ state: 'sending', audience: '2' });
  });
});
