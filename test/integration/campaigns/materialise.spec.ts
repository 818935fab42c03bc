import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { gateAt } from '../../../src/runtime/signal.ts';
import { createCampaignRig, many, type CampaignRig } from '../../support/campaign-rig.ts';
import { startDispatchProcess, untilNoticed, type DispatchProcess } from '../../support/dispatch-process.ts';
import { eventually } from '../../support/eventually.ts';

let rig: CampaignRig;
const processes: DispatchProcess[] = [];

beforeAll(async () => {
  rig = await createCampaignRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());
afterEach(async () => {
  await Promise.all(processes.splice(0).map(async (process) => await process.discard()));
});

async function maintenance(fault?: string): Promise<DispatchProcess> {
  const process = await startDispatchProcess(rig, {
    kafkaBrokers: inject('kafkaBrokers'),
    roles: ['maintenance'],
    campaigns: { pageSize: 40 },
    ...(fault === undefined ? {} : { fault }),
  });
  processes.push(process);
  return process;
}

async function audienceIsWhole(): Promise<void> {
  expect(await rig.recipients('c')).toEqual(many(200).map((each) => each.subscriberId));
  expect(await rig.read('c')).toMatchObject({ audience: '200', excluded: '1' });
  expect(await rig.exclusions('c')).toEqual({ twin: 'same-address' });
}

async function campaign(): Promise<void> {
  await rig.subscribe([...many(200), { subscriberId: 'twin', email: 's0000@example.com' }]);
  await rig.approved('c');
}

describe('a maintenance process that dies while it freezes the audience', () => {
  it.each([
    'materialise.after-insert:kill:1',
    'materialise.after-insert:kill:3',
    'materialise.before-commit:kill:4',
    'materialise.after-commit:kill:2',
    // The sixth page is the last; the commit after it lets sending begin.
    'materialise.before-commit:kill:7',
  ])('at %s: nothing is sent of a part, and the audience becomes whole', async (fault) => {
    await campaign();
    expect(await (await maintenance(fault)).exited).toBe('SIGKILL');
    await untilNoticed(rig);
    expect((await rig.read('c')).state).toBe('materialising');
    const worker = rig.worker();
    expect(await worker.pipeline.runOnce()).toBe('idle');
    expect((await rig.sink.stats()).transactions).toBe(0);
    await rig.materialise(40);
    await audienceIsWhole();
    expect((await rig.eventsOf()).filter((type) => type === 'campaign.started')).toHaveLength(1);
  });
});

describe('two that freeze the same audience', () => {
  it('share out pages and never do one twice', async () => {
    await campaign();
    await rig.start();
    using gate = gateAt('materialise.after-insert');
    const first = rig.page(40);
    await gate.reached;
    // The campaign is held by the first for its page: the second finds nothing to do, and does not wait.
    expect(await rig.page(40)).toBe('idle');
    gate.open();
    expect(await first).toBe('more');
    await rig.materialise(40);
    await audienceIsWhole();
  });

  it('as processes, and start it once', async () => {
    await campaign();
    await Promise.all([maintenance(), maintenance()]);
    await eventually('the campaign to be sending', 30_000, async () => (await rig.read('c')).state === 'sending');
    await audienceIsWhole();
    expect((await rig.eventsOf()).filter((type) => type === 'campaign.started')).toHaveLength(1);
  });
});

describe('a cancellation while the audience is frozen', () => {
  it('ends it: nothing is sent, and what is frozen is cancelled', async () => {
    await campaign();
    await rig.start();
    await rig.page(40);
    await rig.control('cancel', 'c');
    expect(await rig.page(40)).toBe('idle');
    while ((await rig.cancelRemaining(15)) > 0);
    expect(await rig.states()).toEqual({ cancelled: 40 });
    expect(await rig.worker().pipeline.runOnce()).toBe('idle');
  });
});
