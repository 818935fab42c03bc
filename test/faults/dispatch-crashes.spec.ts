import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import {
  startDispatchProcess,
  untilNoticed,
  type DispatchProcess,
  type DispatchProcessOptions,
} from '../support/dispatch-process.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { eventually } from '../support/eventually.ts';
import { createPeer } from '../support/peer.ts';

let rig: DispatchRig;
const processes: DispatchProcess[] = [];

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());
afterEach(async () => {
  await Promise.all(processes.splice(0).map(async (process) => await process.discard()));
});

const NAMES = Array.from({ length: 10 }, (_, index) => `n${index}`);

async function start(options: Omit<DispatchProcessOptions, 'kafkaBrokers'> = {}): Promise<DispatchProcess> {
  const process = await startDispatchProcess(rig, { kafkaBrokers: inject('kafkaBrokers'), ...options });
  processes.push(process);
  return process;
}

/** Lets a dispatcher run until it kills itself at the point. */
async function dieAt(point: string, options: Omit<DispatchProcessOptions, 'kafkaBrokers'> = {}): Promise<void> {
  const process = await start({ ...options, fault: `${point}:kill${point.includes(':') ? '' : ':1'}` });
  expect(await process.exited).toBe('SIGKILL');
  await untilNoticed(rig);
}

/** The lease of the dead ends, its operations are taken back, and another dispatcher does what is left. */
async function othersGoOn(): Promise<{ queued: number; unknown: number }> {
  await rig.endLeases();
  const rescued = await rig.rescue();
  await rig.worker().workUntil('the rest', async () => await rig.allIn('accepted', 'unknown'));
  return rescued;
}

/** The promise, for each operation: accepted and one effect, or unknown with evidence and at most one. Tells who breaks it. */
async function brokenPromises(): Promise<string[]> {
  const effects = await rig.sink.recipients();
  const broken: string[] = [];
  for (const name of NAMES) {
    const count = effects.get(`${name}@example.com`) ?? 0;
    const { state } = await rig.operation(name);
    const evidence = (await rig.attempts(name)).at(-1)?.outcome;
    const told = (await rig.eventsOf(name)).join();
    const kept =
      (state === 'accepted' && count === 1 && evidence === 'accepted') ||
      (state === 'unknown' && count <= 1 && evidence === 'lost');
    if (!kept || told !== `operation.${state}`) broken.push(`${name}: ${state}, ${count}, ${evidence}, ${told}`);
  }
  return broken;
}

async function judge(): Promise<void> {
  expect(await brokenPromises()).toEqual([]);
  expect((await rig.sink.stats()).doubled).toBe(0);
}

describe('a dispatcher that dies', () => {
  it('before the claim commits: its operations are queued, for any other', async () => {
    await rig.request(NAMES);
    await dieAt('claim.before-commit', { provider: { rate: { perSecond: 1000 } } });
    expect(await rig.states()).toEqual({ queued: 10 });
    expect(await rig.operation('n0')).toMatchObject({ claim_seq: '0' });
    await rig.worker().workUntil('all', async () => await rig.allIn('accepted'));
    await judge();
  });

  it('after the claim, before the intent: queued again when the lease ends', async () => {
    await rig.request(NAMES);
    await dieAt('dispatch.after-claim');
    expect(await rig.states()).toEqual({ claimed: 10 });
    expect(await othersGoOn()).toEqual({ queued: 10, unknown: 0, dead: 0, released: 0 });
    expect(await rig.states()).toEqual({ accepted: 10 });
    // 1 the claim of the dead, 2 the rescue, 3 the next claim.
    expect(await rig.operation('n0')).toMatchObject({ claim_seq: '3', attempts: 1 });
    await judge();
  });

  it.each(['dispatch.after-intents', 'dispatch.before-call'])(
    'after the intent, before the call (%s): unknown, with the intent as evidence',
    async (point) => {
      await rig.request(NAMES);
      await dieAt(point);
      const called = (await rig.states())['calling'] ?? 0;
      expect(called).toBeGreaterThan(0);
      expect(await othersGoOn()).toEqual({ queued: 10 - called, unknown: called, dead: 0, released: 0 });
      expect(await rig.states()).toEqual({ accepted: 10 - called, unknown: called });
      const unknown = await rig.query<{ seq: string }>(
        `SELECT DISTINCT claim_seq::text AS seq FROM operations WHERE state = 'unknown'`,
      );
      expect(unknown).toEqual([{ seq: '2' }]);
      expect((await rig.sink.stats()).accepted).toBe(10 - called);
      await judge();
    },
  );

  it('during the call: unknown, and the mail that the server takes all the same is the only one', async () => {
    await rig.request(NAMES);
    await rig.sink.script([{ phase: 'dot', recipient: 'n0', action: { do: 'stall' } }]);
    const process = await start();
    await eventually('the call', 20_000, async () => (await rig.sink.stats()).stalled === 1);
    await process.kill();
    await untilNoticed(rig);
    await rig.sink.release();
    await eventually('the mail', 10_000, async () => (await rig.sink.recipients()).get('n0@example.com') === 1);
    const { unknown } = await othersGoOn();
    expect(unknown).toBeGreaterThanOrEqual(1);
    expect((await rig.operation('n0')).state).toBe('unknown');
    await judge();
  });

  it.each(['dispatch.after-call', 'dispatch.after-call:kill:3'])(
    'after the provider accepted, before the record (%s): unknown, and never called again',
    async (point) => {
      await rig.request(NAMES);
      const process = await start({ fault: point.includes('kill') ? point : `${point}:kill` });
      expect(await process.exited).toBe('SIGKILL');
      await untilNoticed(rig);
      const before = (await rig.sink.stats()).accepted;
      expect(before).toBeGreaterThan(0);
      expect((await othersGoOn()).unknown).toBeGreaterThan(0);
      await judge();
    },
  );

  it.each(['dispatch.after-record', 'record.before-commit'])(
    'during the record, rolled back (%s): as before the record',
    async (point) => {
      await rig.request(NAMES);
      await dieAt(point);
      expect((await rig.states())['accepted']).toBeUndefined();
      expect(await rig.eventsOf()).toEqual([]);
      expect((await othersGoOn()).unknown).toBeGreaterThan(0);
      await judge();
    },
  );

  it('during the record, committed and not acknowledged: done', async () => {
    await rig.request(['n0']);
    await dieAt('record.after-commit');
    expect(await rig.operation('n0')).toMatchObject({ state: 'accepted', claim_seq: '1' });
    await rig.endLeases();
    expect(await rig.rescue()).toEqual({ queued: 0, unknown: 0, dead: 0, released: 0 });
    expect(await rig.sink.recipients()).toEqual(new Map([['n0@example.com', 1]]));
    expect(await rig.eventsOf()).toEqual(['operation.accepted']);
  });

  it.each(['relay.before-publish', 'relay.after-publish'])(
    'after the record, before its event is published and deleted (%s): another relay publishes it',
    async (point) => {
      const topicPrefix = `t${randomBytes(4).toString('hex')}.`;
      // Makes the topics; that is the consumer's work.
      const consumer = await start({ topicPrefix, roles: ['consumer'] });
      await consumer.ready();
      await consumer.discard();
      await rig.request(['n0']);
      await dieAt(point, { topicPrefix, roles: ['dispatcher', 'relay'] });
      expect(await rig.operation('n0')).toMatchObject({ state: 'accepted' });
      expect(await rig.eventsOf('n0')).toEqual(['operation.accepted']);
      await rig.query('UPDATE outbox_buckets SET lease_until = now()');
      await rig.query('UPDATE outbox_relays SET alive_until = now()');
      await start({ topicPrefix, roles: ['relay'] });
      const reader = await createPeer(inject('kafkaBrokers'), topicPrefix);
      try {
        await reader.listen();
        await eventually('the event to leave the outbox', 30_000, async () => (await rig.eventsOf()).length === 0);
        await eventually('the event', 30_000, () => reader.events.length > 0);
        expect(new Set(reader.events.map(({ id, type }) => `${type} ${id}`)).size).toBe(1);
      } finally {
        await reader.close();
      }
      expect(await rig.sink.recipients()).toEqual(new Map([['n0@example.com', 1]]));
    },
  );

  it('while it ends claims without a call: as after the claim', async () => {
    await rig.request(NAMES);
    for (const name of NAMES) await rig.suppress(name);
    await dieAt('dispatch.before-append-end');
    expect(await rig.states()).toEqual({ claimed: 10 });
    await rig.endLeases();
    expect(await rig.rescue()).toEqual({ queued: 10, unknown: 0, dead: 0, released: 0 });
    await rig.worker().workUntil('all', async () => await rig.allIn('suppressed'));
    expect(await rig.eventsOf()).toEqual(NAMES.map(() => 'operation.suppressed'));
    expect((await rig.sink.stats()).transactions).toBe(0);
  });
});

describe('a rescue that dies', () => {
  it.each(['rescue.before-commit', 'rescue.after-commit'])('at %s is done once, by whoever comes', async (point) => {
    await rig.request(['n0']);
    await rig.query(
      `UPDATE operations SET state = 'calling', claim_seq = 1, attempts = 1, claimed_by = gen_random_uuid(),
         lease_until = now() - interval '1 second'`,
    );
    await rig.query(
      `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker)
       SELECT tenant_id, operation_id, 1, 'main', gen_random_uuid() FROM operations`,
    );
    await dieAt(point, { dispatch: { rescueSeconds: 1 } });
    await rig.rescue();
    expect(await rig.states()).toEqual({ unknown: 1 });
    expect(await rig.operation('n0')).toMatchObject({ claim_seq: '2' });
    expect(await rig.eventsOf()).toEqual(['operation.unknown']);
  });
});
