import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { eventually } from '../../support/eventually.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** How many of the first `count` mails at the sink went to recipients that begin with `prefix`. */
async function amongFirst(count: number, prefix: string): Promise<number> {
  const arrivals = (await rig.sink.arrivals()).slice(0, count);
  return arrivals.filter(({ recipient }) => recipient.startsWith(prefix)).length;
}

describe('a single mail during a campaign', () => {
  it('goes out while most of the campaign still waits', async () => {
    await rig.campaign('big', names('bulk', 5_000));
    const worker = rig.worker({ connections: 4 });
    await worker.workUntil('the campaign to be under way', async () => (await rig.sink.stats()).accepted > 600);
    await rig.request(['urgent']);
    const before = (await rig.sink.stats()).accepted;
    await worker.workUntil('the single mail', async () => (await rig.operation('urgent')).state === 'accepted');
    const position = (await rig.sink.arrivals()).findIndex(({ recipient }) => recipient === 'urgent@example.com');
    expect(position).toBeGreaterThan(0);
    // What is claimed ahead of it may be 500: it must not wait for that.
    expect(position - before).toBeLessThan(500);
  });

  it('goes before the mails that were claimed ahead of it', async () => {
    await rig.campaign('big', names('bulk', 200));
    const worker = rig.worker({ connections: 2, claimBatch: 100, timeoutMs: 20_000 });
    await rig.sink.script([{ phase: 'dot', times: 2, action: { do: 'stall' } }]);
    await worker.workUntil('all connections to be busy', async () => (await rig.sink.stats()).stalled === 2);
    await worker.pipeline.runOnce();
    await rig.request(['urgent']);
    await worker.workUntil('the single mail to be claimed', async () => {
      return (await rig.operation('urgent')).state === 'claimed';
    });
    await rig.sink.release();
    await worker.workUntil('all', async () => await rig.allIn('accepted'));
    const position = (await rig.sink.arrivals()).findIndex(({ recipient }) => recipient === 'urgent@example.com');
    expect(position).toBeLessThan(6);
  });
});

describe('sharing', () => {
  it('gives two tenants equal parts, whoever has more', async () => {
    await rig.campaign('big', names('large', 1_500));
    await rig.campaign('small', names('little', 100), { tenantId: 'other' });
    const worker = rig.worker({ tenants: ['demo', 'other'], claimBatchMax: 100 });
    await worker.workUntil('the smaller one', async () => {
      return (await rig.query(`SELECT FROM operations WHERE tenant_id = 'other' AND state <> 'accepted'`)).length === 0;
    });
    // Equal parts would be 200; claims go in batches of up to 100.
    const place = (await rig.sink.arrivals()).findLastIndex(({ recipient }) => recipient.startsWith('little'));
    expect(place).toBeLessThan(500);
  });

  it('gives two campaigns of a tenant equal parts', async () => {
    await rig.campaign('big', names('large', 1_000));
    await rig.campaign('small', names('little', 100));
    const worker = rig.worker({ claimBatchMax: 100 });
    await worker.workUntil('the smaller one', async () => {
      return (
        (await rig.query(`SELECT FROM operations WHERE campaign_id = 'small' AND state <> 'accepted'`)).length === 0
      );
    });
    expect(await amongFirst(400, 'little')).toBe(100);
  });

  it('is not slowed down by campaigns that wait for a decision only', async () => {
    for (let index = 0; index < 30; index++) await rig.campaign(`held${index}`, [`held${index}`]);
    await rig.query(
      `UPDATE operations SET state = 'unknown', state_reason = 'x', claim_seq = 1 WHERE campaign_id LIKE 'held%'`,
    );
    await rig.campaign('busy', names('n', 200));
    const worker = rig.worker();
    await worker.pipeline.runOnce();
    const [row] = await rig.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM operations WHERE campaign_id = 'busy' AND state <> 'queued'`,
    );
    expect(row?.n).toBeGreaterThanOrEqual(20);
  });
});

describe('a rate', () => {
  it('holds over two dispatchers, and waiting for it counts no attempt', async () => {
    await rig.request(names('n', 40), { maxAttempts: 1 });
    const rate = { perSecond: 10, burst: 10 };
    const [one, two] = [rig.worker({ rate }), rig.worker({ rate })];
    const done = async (): Promise<boolean> => await rig.allIn('accepted');
    await Promise.all([one.workUntil('all', done), two.workUntil('all', done)]);
    const times = (await rig.sink.arrivals()).map(({ at }) => at);
    // 10 at once and 10 a second: the last of 40 is due after 3 s, and no second has more than burst and refill.
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(2_500);
    const busiest = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
    expect(busiest).toBeLessThanOrEqual(25);
    const [most] = await rig.query<{ most: number }>('SELECT max(attempts)::integer AS most FROM operations');
    expect(most?.most).toBe(1);
  });

  it('is per tenant: another tenant does not wait for it', async () => {
    const rate = { perSecond: 1, burst: 5 };
    await rig.request(names('a', 20));
    await rig.request(names('b', 5), { tenantId: 'other' });
    const worker = rig.worker({ rate, tenants: ['demo', 'other'] });
    await worker.workUntil('the other tenant', async () => {
      return (await rig.query(`SELECT FROM operations WHERE tenant_id = 'other' AND state <> 'accepted'`)).length === 0;
    });
    expect(await amongFirst(25, 'b')).toBe(5);
    await eventually('nothing in the air', 10_000, async () => await rig.allIn('accepted', 'queued'));
    expect((await rig.states())['queued']).toBeGreaterThan(0);
  });
});
