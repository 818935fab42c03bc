import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { claimOperations } from '../../../src/dispatch/claim-operations.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

const lane = { tenantId: 'demo', provider: 'main' };

async function claim(worker: number, limit = 10): Promise<string[]> {
  const settings = { worker: `00000000-0000-4000-8000-${String(worker).padStart(12, '0')}`, leaseSeconds: 60 };
  const claimed = await claimOperations(rig.dataSource, lane, limit, null, settings);
  return claimed.map((operation) => operation.operation_key);
}

describe('claiming', () => {
  it('gives one operation to one of 64 claimers', async () => {
    await rig.request(['one']);
    const claims = await Promise.all(Array.from({ length: 64 }, async (_, worker) => await claim(worker)));
    expect(claims.flat()).toEqual(['one']);
    expect(await rig.operation('one')).toMatchObject({ state: 'claimed', claim_seq: '1' });
  });

  it('gives each of many operations to one of many claimers', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
    await rig.request(names);
    const claims = await Promise.all(Array.from({ length: 40 }, async (_, worker) => await claim(worker, 20)));
    expect(claims.flat().length).toBe(new Set(claims.flat()).size);
  });

  it('ends with every mail once when two dispatchers share the work', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    await rig.campaign('c', names);
    const [one, two] = [rig.worker(), rig.worker()];
    const done = async (): Promise<boolean> => await rig.allIn('accepted');
    await Promise.all([one.workUntil('the end', done), two.workUntil('the end', done)]);
    expect(await rig.sink.stats()).toMatchObject({ accepted: 300, distinct: 300, doubled: 0 });
    expect([...one.claimLost, ...two.claimLost]).toEqual([]);
  });
});
