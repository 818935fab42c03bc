import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createCampaignRig, many, type CampaignRig } from '../../support/campaign-rig.ts';

let rig: CampaignRig;

beforeAll(async () => {
  rig = await createCampaignRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

describe('an audience', () => {
  it('has each address once, however it is written', async () => {
    await rig.subscribe([
      { subscriberId: 'a1', email: 'Ann@Example.com' },
      { subscriberId: 'a2', email: 'ann@example.com' },
      { subscriberId: 'b1', email: 'bea@bücher.example' },
      { subscriberId: 'b2', email: 'bea@xn--bcher-kva.example' },
      { subscriberId: 'b3', email: 'Bea@BÜCHER.example' },
      { subscriberId: 'c1', email: 'cleo+shop@example.com' },
      { subscriberId: 'c2', email: 'cleo@example.com' },
    ]);
    await rig.approved('c');
    await rig.materialise(2);
    expect(await rig.recipients('c')).toEqual(['a1', 'b1', 'c1', 'c2']);
    expect(await rig.exclusions('c')).toEqual({ a2: 'same-address', b2: 'same-address', b3: 'same-address' });
    expect(await rig.read('c')).toMatchObject({ state: 'sending', audience: '4', excluded: '3' });
    await rig.worker().workUntil('all', async () => await rig.allIn('accepted'));
    expect(await rig.sink.stats()).toMatchObject({ accepted: 4, doubled: 0 });
  });

  it('has a member of several of its lists once', async () => {
    await rig.subscribe([{ subscriberId: 'a', lists: ['news', 'offers', 'other'] }]);
    await rig.approved('c', { audience: { lists: ['news', 'offers'] } });
    await rig.materialise();
    expect(await rig.recipients('c')).toEqual(['a']);
  });

  it('is of confirmed members of its lists', async () => {
    await rig.subscribe([
      { subscriberId: 'pending', status: 'pending' },
      { subscriberId: 'left', status: 'unsubscribed' },
      { subscriberId: 'gone', status: 'deleted', email: null },
      { subscriberId: 'elsewhere', lists: ['other'] },
      { subscriberId: 'in' },
    ]);
    await rig.approved('c');
    await rig.materialise();
    expect(await rig.recipients('c')).toEqual(['in']);
    expect(await rig.exclusions('c')).toEqual({});
  });

  it('crosses no tenant', async () => {
    await rig.subscribe([{ subscriberId: 'mine' }, { subscriberId: 'theirs', tenantId: 'other' }]);
    await rig.approved('c');
    await rig.materialise();
    expect(await rig.recipients('c')).toEqual(['mine']);
  });

  it('meets its conditions; a condition on what is not there is not met', async () => {
    await rig.subscribe([
      { subscriberId: 'both', attributes: { plan: 'pro', land: 'AT' } },
      { subscriberId: 'list', attributes: { plan: 'pro', land: 'DE' } },
      { subscriberId: 'one', attributes: { plan: 'pro', land: 'FR' } },
      { subscriberId: 'none', attributes: {} },
      { subscriberId: 'inherited', attributes: { plan: 'pro' } },
    ]);
    await rig.approved('c', { audience: { lists: ['news'], where: { plan: 'pro', land: ['AT', 'DE'] } } });
    await rig.approved('d', { audience: { lists: ['news'], where: { constructor: 'x' } } });
    await rig.materialise();
    expect(await rig.recipients('c')).toEqual(['both', 'list']);
    expect(await rig.recipients('d')).toEqual([]);
  });

  it('leaves out who is suppressed and whose address is none, with the reason', async () => {
    await rig.subscribe([
      ...['all', 'marketing', 'this', 'other', 'fine'].map((subscriberId) => ({ subscriberId, lists: ['news', 'x'] })),
      { subscriberId: 'bad', email: 'no address' },
    ]);
    await rig.suppress('all');
    await rig.suppress('marketing', { scope: 'marketing' });
    await rig.suppress('this', { scope: 'list:news' });
    await rig.suppress('other', { scope: 'list:x' });
    await rig.approved('c');
    await rig.materialise();
    // Who has left another list than those of the campaign has not left this one.
    expect(await rig.recipients('c')).toEqual(['fine', 'other']);
    expect(await rig.exclusions('c')).toEqual({
      all: 'suppressed-unsubscribed',
      marketing: 'suppressed-unsubscribed',
      this: 'suppressed-unsubscribed',
      bad: 'invalid-address',
    });
  });

  it('goes on behind pages in which nobody is left', async () => {
    const people = many(1_300);
    await rig.subscribe(people);
    // Three whole pages and the ends of two more.
    await rig.query(
      `INSERT INTO suppressions (tenant_id, address_key, scope, key_version, reason, active, cause, fact_time)
       SELECT tenant_id, address_key, 'all', 1, 'manual', true, 'test', now() FROM subscribers
       WHERE subscriber_id BETWEEN 's0150' AND 's1099'`,
    );
    await rig.approved('c');
    await rig.materialise(200);
    expect(await rig.read('c')).toMatchObject({ state: 'sending', audience: '350', excluded: '950' });
    await rig.worker().workUntil('all', async () => await rig.allIn('accepted'));
    expect(await rig.sink.stats()).toMatchObject({ accepted: 350, distinct: 350 });
    expect(await rig.complete()).toBe(1);
  });

  it('of nobody completes', async () => {
    await rig.approved('c');
    await rig.materialise();
    expect(await rig.read('c')).toMatchObject({ state: 'sending', audience: '0' });
    expect(await rig.complete()).toBe(1);
    expect(await rig.eventsOf()).toEqual([
      'campaign.drafted',
      'campaign.materialised',
      'campaign.started',
      'campaign.completed',
    ]);
  });
});
