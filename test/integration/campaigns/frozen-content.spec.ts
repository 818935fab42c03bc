import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createCampaignRig, many, type CampaignRig } from '../../support/campaign-rig.ts';
import { revisionOf } from '../../support/campaign.ts';

let rig: CampaignRig;

beforeAll(async () => {
  rig = await createCampaignRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

/** Counts the mail, then says that it was put off: the next attempt brings the bytes a second time, for comparison. */
const COUNT_AND_PUT_OFF = { phase: 'accepted', action: { do: 'reply', line: '451 4.3.0 later' } } as const;

async function firstAttempts(count: number): Promise<void> {
  await rig.sink.script([COUNT_AND_PUT_OFF]);
  const worker = rig.worker();
  await worker.workUntil('the first attempts', async () => (await rig.sink.stats()).distinct === count);
  await worker.close();
}

async function secondAttempts(): Promise<void> {
  await rig.sink.script([]);
  await rig.worker().workUntil('all', async () => await rig.allIn('accepted'));
}

describe('the bytes of a mail', () => {
  it('stay as they were frozen when the subscriber and the campaign change between two attempts', async () => {
    await rig.subscribe(many(10));
    await rig.approved('c');
    await rig.materialise();
    await firstAttempts(10);
    await rig.subscribe(
      many(10).map((each) => ({ ...each, email: 'changed@example.com', attributes: { name: 'Changed' }, lists: [] })),
    );
    await rig.submit(revisionOf('c', { revision: 2, subject: 'Another subject', html: '<p>Another</p>' }));
    expect((await rig.eventsOf()).at(-1)).toBe('campaign.refused');
    await secondAttempts();
    const hashes = [...(await rig.sink.hashes()).values()];
    expect(hashes).toHaveLength(10);
    for (const each of hashes) expect(each).toHaveLength(1);
    expect([...(await rig.sink.recipients()).keys()]).not.toContain('changed@example.com');
  });

  it('are the same at each attempt of a single mail, by any process', async () => {
    await rig.request(['a', 'b']);
    await firstAttempts(2);
    await secondAttempts();
    expect([...(await rig.sink.hashes()).values()].map((each) => each.length)).toEqual([1, 1]);
  });
});

describe('a newer revision', () => {
  it('takes a campaign that has not started back to drafted, whatever was approved', async () => {
    await rig.subscribe(many(1));
    await rig.approved('c');
    await rig.submit(revisionOf('c', { revision: 2, subject: 'Second' }));
    expect((await rig.read('c')).state).toBe('drafted');
    expect(await rig.start()).toBe(0);
    expect(await rig.page()).toBe('idle');
  });
});
