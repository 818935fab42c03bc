import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { CallOutcome } from '../../../src/providers/provider.port.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ACCEPTED, ScriptedProvider } from '../../support/dispatch-worker.ts';
import { eventually } from '../../support/eventually.ts';

const THROTTLED: CallOutcome = { kind: 'throttled', retryAfterMs: 1, code: 'http-429', diagnostic: 'too many' };

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

describe('waiting for a provider', () => {
  it('counts no attempt, and ends as dead when it was asked for too often', async () => {
    await rig.request(['a'], { maxAttempts: 1 });
    const provider = new ScriptedProvider(() => THROTTLED);
    const worker = rig.worker({ provider, maxThrottles: 3 });
    await worker.workUntil('it to be dead', async () => await rig.allIn('dead'));
    expect(provider.calls).toHaveLength(3);
    expect(await rig.operation('a')).toMatchObject({
      attempts: 0,
      state_reason: 'the provider asked to wait 3 times, the last: http-429: too many',
    });
    expect(await rig.eventsOf('a')).toEqual(['operation.dead']);
  });
});

describe('an operation whose workers are lost before the call', () => {
  it('is tried again, later each time, and ends as dead with an event', async () => {
    await rig.request(['a']);
    for (let lost = 1; lost <= 4; lost++) {
      await lose();
      expect(await rig.rescue()).toEqual({ queued: 1, unknown: 0, dead: 0, released: 0 });
    }
    const [row] = await rig.query<{ later: boolean }>(
      `SELECT not_before > now() + interval '5 seconds' AS later FROM operations`,
    );
    expect(row).toEqual({ later: true });
    await lose();
    expect(await rig.rescue()).toEqual({ queued: 0, unknown: 0, dead: 1, released: 0 });
    expect((await rig.operation('a')).state_reason).toMatch(/^crash-loop: /);
    expect(await rig.eventsOf('a')).toEqual(['operation.dead']);
  });

  it('starts to count anew when it gets as far as the call', async () => {
    await rig.request(['a']);
    await lose();
    await rig.rescue();
    await rig.query('UPDATE operations SET not_before = now()');
    const worker = rig.worker();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    expect(await rig.query('SELECT crashes FROM operations')).toEqual([{ crashes: 0 }]);
  });

  it('goes alone when it is suspect, and the others wait for it', async () => {
    await rig.request(['a', 'b', 'c']);
    await rig.query('UPDATE operations SET crashes = 3');
    const provider = new ScriptedProvider(() => ACCEPTED);
    const worker = rig.worker({ provider });
    using gate = gateAt('dispatch.before-call');
    await worker.pipeline.runOnce();
    await gate.reached;
    await eventually('the others to be given back', 10_000, async () => {
      const { queued } = await rig.states();
      return queued === 2;
    });
    gate.open();
    await worker.workUntil('all to be accepted', async () => await rig.allIn('accepted'));
    expect(provider.calls).toHaveLength(3);
  });
});

/** A claim whose worker is gone. */
async function lose(): Promise<void> {
  await rig.query(
    `UPDATE operations SET state = 'claimed', claim_seq = claim_seq + 1, claimed_by = gen_random_uuid(),
       lease_until = now() - interval '1 second'`,
  );
}
