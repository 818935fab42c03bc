import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startDispatchProcess } from '../support/dispatch-process.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { eventually } from '../support/eventually.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());

it('a dispatcher that was stopped past its lease writes nothing and calls nobody when it goes on', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
  await rig.request(names);
  // The first mail is counted, its answer is held back; the other seven wait behind it on the only connection.
  await rig.sink.script([{ phase: 'accepted', nth: 1, action: { do: 'stall' } }]);
  const stale = await startDispatchProcess(rig, {
    kafkaBrokers: inject('kafkaBrokers'),
    provider: { connections: 1 },
  });
  try {
    await eventually('the first call', 20_000, async () => (await rig.sink.stats()).stalled === 1);
    process.kill(stale.pid, 'SIGSTOP');
    await rig.endLeases();
    expect(await rig.rescue()).toEqual({ queued: 7, unknown: 1, dead: 0, released: 0 });
    await rig.worker().workUntil('the others', async () => await rig.allIn('accepted', 'unknown'));
    await rig.sink.release();
    process.kill(stale.pid, 'SIGCONT');

    await eventually('all its claims to be lost', 20_000, async () => {
      const metrics = await (await fetch(`${stale.url}/metrics`)).text();
      const lost = [
        ...metrics.matchAll(/^einmal_claim_losses_total\{[^}]*step="(commit-intents|record)"[^}]*\} (\d+)$/gm),
      ];
      return lost.reduce((sum, [, , count]) => sum + Number(count), 0) === 8;
    });
    // Its answer came late, and is the evidence.
    expect(await rig.states()).toEqual({ accepted: 8 });
    expect([...(await rig.sink.recipients()).values()]).toEqual(names.map(() => 1));
    const [evidence] = await rig.query<{ outcome: string; claim_seq: string }>(
      `SELECT a.outcome, a.claim_seq FROM attempts a JOIN operations o USING (tenant_id, operation_id) WHERE o.resolved_by = 'late-result'`,
    );
    expect(evidence).toEqual({ outcome: 'accepted', claim_seq: '1' });
    expect(await stale.stop()).toBe(0);
  } finally {
    await stale.discard();
  }
});
