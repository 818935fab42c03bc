import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { queueApproved } from '../../../src/operations/queue-approved/queue-approved.ts';
import { cancelOperations } from '../../../src/operations/cancel-operations/cancel-operations.ts';
import { gateAt, onReach } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { eventually } from '../../support/eventually.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

async function cancel(name: string): Promise<void> {
  const event = {
    type: 'einmal.operation.cancel-requested.v1',
    id: 'cancel',
    source: '/peer',
    tenantId: 'demo',
    time: new Date(),
    data: { operationKey: name, by: 'a person' },
  };
  await rig.inTransaction(async (tx) => await cancelOperations(tx, [], rig.events, [event as never]));
}

describe('between the claim and the intent', () => {
  it('a suppression is seen: the mail is not sent', async () => {
    await rig.request(['late', 'other']);
    const worker = rig.worker();
    using gate = gateAt('dispatch.after-claim');
    const pass = worker.pipeline.runOnce();
    await gate.reached;
    await rig.suppress('late');
    gate.open();
    await pass;
    await worker.workUntil('both to end', async () => await rig.allIn('suppressed', 'accepted'));
    expect((await rig.operation('late')).state_reason).toBe('all: unsubscribed');
    expect([...(await rig.sink.recipients()).keys()]).toEqual(['other@example.com']);
    expect(await rig.eventsOf('late')).toEqual(['operation.suppressed']);
    expect(await rig.attempts('late')).toEqual([]);
  });

  it.each(['paused', 'cancelled'])('a campaign that is %s keeps back what was claimed', async (state) => {
    await rig.campaign('c', ['a', 'b', 'c']);
    const worker = rig.worker();
    using gate = gateAt('dispatch.after-claim');
    const pass = worker.pipeline.runOnce();
    await gate.reached;
    const end = state === 'cancelled' ? ', ended_at = now()' : '';
    await rig.query(`UPDATE campaigns SET state = '${state}'${end}`);
    gate.open();
    await pass;
    await worker.workUntil('all to be given back', async () => await rig.allIn('queued'));
    expect((await rig.sink.stats()).transactions).toBe(0);
    expect(await rig.operation('a')).toMatchObject({ claim_seq: '2', attempts: 0 });
  });

  it('a cancellation wins: the worker loses its claim', async () => {
    await rig.request(['a']);
    const worker = rig.worker();
    using gate = gateAt('dispatch.after-claim');
    const pass = worker.pipeline.runOnce();
    await gate.reached;
    await cancel('a');
    gate.open();
    await pass;
    await eventually('the loss', 10_000, () => worker.claimLost.length > 0);
    expect(worker.claimLost).toEqual(['commit-intents']);
    expect(await rig.operation('a')).toMatchObject({ state: 'cancelled', claim_seq: '2' });
    expect((await rig.sink.stats()).transactions).toBe(0);
  });

  it('a rescue wins: the late worker calls nobody, the next one once', async () => {
    await rig.request(['a']);
    const [late, next] = [rig.worker(), rig.worker()];
    using gate = gateAt('dispatch.after-claim');
    const pass = late.pipeline.runOnce();
    await gate.reached;
    await rig.endLeases();
    expect(await rig.rescue()).toEqual({ queued: 1, unknown: 0, dead: 0, released: 0 });
    await next.workUntil('the next to send', async () => await rig.allIn('accepted'));
    gate.open();
    await pass;
    await eventually('the loss', 10_000, () => late.claimLost.length > 0);
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted', claim_seq: '3' });
  });

  it('an approval that comes while the operation is sent back to wait is not missed', async () => {
    const approval = { object: 'offer', revision: 1 };
    await rig.request(['a'], { approval });
    const worker = rig.worker();
    using gate = gateAt('dispatch.after-intents');
    await worker.pipeline.runOnce();
    await gate.reached;
    await rig.inTransaction(async (tx) => {
      await rig.query(
        `INSERT INTO approvals (tenant_id, object, revision, hash, granted, decided_by, fact_time)
         SELECT 'demo', 'offer', 1, 'sha256:' || encode(payload_hash, 'hex'), true, 'b', now() FROM operations`,
      );
      await queueApproved(tx, [{ tenantId: 'demo', object: 'offer' }]);
    });
    gate.open();
    await worker.workUntil('it to be sent', async () => await rig.allIn('accepted'), 5_000);
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
  });
});

describe('between the intent and the call', () => {
  it('a cancellation comes too late and changes nothing', async () => {
    await rig.request(['a']);
    const worker = rig.worker();
    using gate = gateAt('dispatch.before-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    await cancel('a');
    gate.open();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
  });

  it('a worker that held an intent past what its lease leaves calls nobody, and says so', async () => {
    await rig.request(['a']);
    const worker = rig.worker({ leaseSeconds: 3, timeoutMs: 900 });
    using gate = gateAt('dispatch.after-intents');
    await worker.pipeline.runOnce();
    await gate.reached;
    await eventually('the lease to end', 10_000, async () => {
      const [row] = await rig.query<{ over: boolean }>('SELECT bool_and(lease_until < now()) AS over FROM operations');
      return row?.over === true;
    });
    await rig.rescue();
    gate.open();
    await eventually('the loss', 10_000, () => worker.claimLost.length > 0);
    expect((await rig.sink.stats()).transactions).toBe(0);
    // It says that it called nobody, so that nothing is unknown.
    expect(await rig.operation('a')).toMatchObject({ state: 'queued', state_reason: 'late-result: not-sent' });
    expect(await rig.attempts('a')).toMatchObject([{ outcome: 'not-sent', code: 'not-called' }]);
  });

  it('what was not called for lack of time is tried again, and counts no attempt', async () => {
    await rig.request(['a'], { maxAttempts: 1 });
    const worker = rig.worker({ leaseSeconds: 3, timeoutMs: 900 });
    using gate = gateAt('dispatch.after-intents');
    await worker.pipeline.runOnce();
    await gate.reached;
    await eventually('too little to be left', 10_000, async () => {
      const [row] = await rig.query<{ left: boolean }>(
        `SELECT bool_and(lease_until < now() + interval '500 milliseconds') AS left FROM operations`,
      );
      return row?.left === true;
    });
    gate.open();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await rig.operation('a')).toMatchObject({ attempts: 1 });
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
  });
});

describe('a rescue and a result at the same moment', () => {
  it('a result that is being stored is not rescued away', async () => {
    await rig.request(['a']);
    const worker = rig.worker();
    using gate = gateAt('record.before-commit');
    await worker.pipeline.runOnce();
    await gate.reached;
    expect(await rig.rescue()).toEqual({ queued: 0, unknown: 0, dead: 0, released: 0 });
    gate.open();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(worker.claimLost).toEqual([]);
  });

  it('a result after the rescue is evidence, and resolves what was unknown', async () => {
    await rig.request(['a']);
    const worker = rig.worker();
    using gate = gateAt('dispatch.after-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    await rig.endLeases();
    expect(await rig.rescue()).toEqual({ queued: 0, unknown: 1, dead: 0, released: 0 });
    gate.open();
    await eventually('the loss', 10_000, () => worker.claimLost.length > 0);
    expect(worker.claimLost).toEqual(['record']);
    expect(await rig.operation('a')).toMatchObject({ state: 'accepted', claim_seq: '3', resolved_by: 'late-result' });
    expect(await rig.attempts('a')).toMatchObject([{ claim_seq: '1', outcome: 'accepted' }]);
    expect(await rig.eventsOf('a')).toEqual(['operation.unknown', 'operation.resolved']);
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
  });
});

describe('a claim whose lease leaves no room for the call', () => {
  it('is given back without a call or an attempt', async () => {
    await rig.request(['a']);
    const worker = rig.worker({ leaseSeconds: 2, timeoutMs: 5_000 });
    await worker.pipeline.runOnce();
    await eventually('it to be given back', 10_000, () => worker.notCalled.length > 0);
    expect(worker.notCalled).toEqual(['no-time-left']);
    expect(await rig.operation('a')).toMatchObject({ state: 'queued', claim_seq: '2', attempts: 0 });
    expect((await rig.sink.stats()).transactions).toBe(0);
  });
});

describe('a database that lets one of two transactions lose', () => {
  it('is asked again for the intents: nothing waits for the end of its lease', async () => {
    await rig.request(['a', 'b']);
    await rig.query(`
      CREATE SEQUENCE losers;
      CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('losers') = 1 THEN RAISE EXCEPTION USING ERRCODE = '40P01'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER lose BEFORE INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION lose();
    `);
    try {
      const worker = rig.worker();
      await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'), 5_000);
      expect(await rig.sink.stats()).toMatchObject({ accepted: 2, doubled: 0 });
    } finally {
      await rig.query('DROP TRIGGER lose ON attempts; DROP FUNCTION lose; DROP SEQUENCE losers');
    }
  });
});

describe('an intent of which nobody knows whether it was committed', () => {
  it.each([
    ['it was', 'dispatch.after-intents'],
    ['it was not', null],
  ])('is taken back (%s): nobody was called, so nothing is unknown', async (_what, point) => {
    const names = ['a', 'b', 'c'];
    await rig.request(names, { maxAttempts: 1 });
    let failures = 1;
    const disarm = onReach(point ?? 'dispatch.after-intents', () => {
      if (point !== null && failures-- > 0) throw new Error('the connection broke');
    });
    if (point === null) {
      await rig.query(`
        CREATE SEQUENCE cuts;
        CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('cuts') = 1 THEN RAISE EXCEPTION USING ERRCODE = '57P01'; END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER cut BEFORE INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION cut();
      `);
    }
    try {
      const worker = rig.worker();
      await worker.workUntil('all', async () => await rig.allIn('accepted'), 10_000);
    } finally {
      disarm();
      if (point === null) await rig.query('DROP TRIGGER cut ON attempts; DROP FUNCTION cut; DROP SEQUENCE cuts');
    }
    expect(await rig.sink.stats()).toMatchObject({ transactions: 3, accepted: 3, doubled: 0 });
    expect((await rig.operation('a')).attempts).toBe(1);
  });
});
