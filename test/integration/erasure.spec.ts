import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { erasePage } from '../../src/erasure/erase-person.ts';
import { requestErasure } from '../../src/erasure/request-erasure.ts';
import { gateAt } from '../../src/runtime/signal.ts';
import { createCampaignRig, type CampaignRig } from '../support/campaign-rig.ts';
import { ACCEPTED, ScriptedProvider } from '../support/dispatch-worker.ts';
import { erase, goOn, placeOf, reportOf, subscribe, tablesWith } from './erasure-ground.ts';
import { endedCampaign, furnish, put } from './retention-ground.ts';

let rig: CampaignRig;
const ADA = { email: 'ADA@Example.com' };
const ADA_KEY = 'ada@example.com';

beforeAll(async () => {
  rig = await createCampaignRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => {
  await rig.reset();
  await rig.query('TRUNCATE erasures, dead_letters');
});

/** Operations to ada@example.com, in these states. */
async function operationsTo(states: readonly string[], key = ADA_KEY): Promise<void> {
  const request = { to: 'Ada@example.com', subject: 'Your order', text: 'Thank you.' };
  await rig.request(states, { addressKey: key, request });
  for (const state of states) {
    await furnish(rig, state);
    await put(rig, state, state, 1);
  }
  await rig.query(`UPDATE receipts SET content = '{"email":"ada@example.com"}'`);
  await rig.query(`UPDATE checkpoints SET result = '{"to":"ada@example.com"}'`);
}

const statesOf = async (): Promise<Record<string, string>> => {
  const rows = await rig.query<{ operation_key: string; state: string }>('SELECT operation_key, state FROM operations');
  return Object.fromEntries(rows.map((row) => [row.operation_key, row.state]));
};

describe('the erasure of a person by address', () => {
  it('leaves the address nowhere but in suppressions, and tells what was erased', async () => {
    await subscribe(rig, 's1', 'Ada@example.com');
    await subscribe(rig, 's2', 'ada@EXAMPLE.com');
    await subscribe(rig, 's3', 'eve@example.com');
    await operationsTo(['accepted', 'queued', 'unknown']);
    await endedCampaign(rig, 'c', ['ada', 'eve'], 1);
    await rig.query(`INSERT INTO campaign_exclusions VALUES ('demo', 'c', 's2', 'same-address')`);
    await rig.query(
      `INSERT INTO receipts (tenant_id, provider, receipt_id, type, occurred_at, content, unmatched)
       VALUES ('demo', 'main', 'x', 'bounced', now(), '{"email":"ada@example.com"}', true),
              ('demo', 'main', 'y', 'bounced', now(), '{"email":"eve@example.com"}', true)`,
    );
    await rig.suppress('ada');
    expect(await tablesWith(rig, ADA_KEY)).toEqual([
      'checkpoints',
      'operation_requests',
      'operations',
      'receipts',
      'subscribers',
      'suppressions',
    ]);
    expect(await reportOf(rig, ADA)).toEqual({
      subscribers: 2,
      operations: 4,
      cancelled: 1,
      requests: 4,
      results: 3,
      receipts: 4,
      campaignExclusions: 1,
      deadLetters: 0,
      deliveries: 0,
    });
    expect(await tablesWith(rig, ADA_KEY)).toEqual(['suppressions']);
    expect(await tablesWith(rig, 'eve@example.com')).toEqual([
      'operation_requests',
      'operations',
      'receipts',
      'subscribers',
    ]);
  });

  it('keeps the ids of subscribers, emptied, and how many a campaign left out', async () => {
    await subscribe(rig, 's1', 'ada@example.com');
    await rig.campaign('c', ['eve']);
    await rig.query(`INSERT INTO campaign_exclusions VALUES ('demo', 'c', 's1', 'same-address')`);
    await erase(rig, ADA);
    expect(await rig.query('SELECT * FROM subscribers')).toMatchObject([
      {
        subscriber_id: 's1',
        status: 'deleted',
        email: null,
        address_key: null,
        attributes: {},
        lists: [],
        locale: null,
      },
    ]);
    expect(await rig.query(`SELECT reason, subscriber_id LIKE 'erased:%' AS erased FROM campaign_exclusions`)).toEqual([
      { reason: 'same-address', erased: true },
    ]);
  });

  it('ends what is not called yet, with an event; what is being called or unknown keeps its state', async () => {
    await operationsTo(['queued', 'claimed', 'awaiting-approval', 'calling', 'unknown', 'accepted']);
    await erase(rig, ADA);
    expect(await statesOf()).toEqual({
      queued: 'cancelled',
      claimed: 'cancelled',
      'awaiting-approval': 'cancelled',
      calling: 'calling',
      unknown: 'unknown',
      accepted: 'accepted',
    });
    expect(await rig.operation('claimed')).toMatchObject({ state_reason: 'erased', claim_seq: '2' });
    expect(await rig.eventsOf('queued')).toEqual(['operation.cancelled']);
    expect(await rig.eventsOf('unknown')).toEqual([]);
    expect(await rig.query(`SELECT FROM operations WHERE address_key <> 'scrubbed:' || operation_id`)).toEqual([]);
  });

  it('one that is unknown and decided to be sent again is not sent: there is nothing to send', async () => {
    await operationsTo(['unknown']);
    await erase(rig, ADA);
    await rig.query(`UPDATE operations SET state = 'queued', not_before = now()`);
    const provider = new ScriptedProvider(() => ACCEPTED);
    await rig.worker({ provider }).workUntil('it to end', async () => await rig.allIn('rejected'));
    expect(provider.calls).toEqual([]);
    expect(await rig.operation('unknown')).toMatchObject({ state_reason: expect.stringContaining('no longer there') });
  });

  it('leaves an audit row without the address, in the transaction that ends it', async () => {
    await erase(rig, ADA);
    expect(await rig.query('SELECT actor, action, object, reason, after FROM audit')).toEqual([
      {
        actor: 'office',
        action: 'person.erase',
        object: expect.stringMatching(/^erasure:[0-9a-f-]{36}$/),
        reason: 'asked for by the person, <address>',
        after: expect.objectContaining({ subscribers: 0, operations: 0 }),
      },
    ]);
    expect(await rig.query('SELECT subscriber_ids, address_keys, step FROM erasures')).toEqual([
      { subscriber_ids: [], address_keys: [], step: 'end' },
    ]);
  });

  it('touches nothing of another tenant', async () => {
    await rig.request(['theirs'], { tenantId: 'other', addressKey: ADA_KEY });
    await rig.query(
      `INSERT INTO subscribers (tenant_id, subscriber_id, status, email, address_send, address_key, key_version, fact_time)
       VALUES ('other', 's', 'confirmed', 'ada@example.com', 'ada@example.com', 'ada@example.com', 1, now())`,
    );
    expect(await reportOf(rig, ADA)).toMatchObject({ subscribers: 0, operations: 0 });
    expect(await rig.operation('theirs', 'other')).toMatchObject({ state: 'queued' });
  });

  it('refuses what is no address, by its rule', async () => {
    const outcome = await erase(rig, { email: 'nobody' });
    expect(outcome).toEqual({ kind: 'not-an-address', rule: 'the address has no @' });
    expect(await rig.query('SELECT FROM erasures')).toEqual([]);
  });

  it('may be asked for again', async () => {
    await operationsTo(['accepted']);
    await erase(rig, ADA);
    expect(await reportOf(rig, ADA)).toMatchObject({ subscribers: 0, operations: 0, receipts: 0 });
  });
});

describe('the erasure of a subscriber', () => {
  it("finds operations of campaigns by the subscriber's id, whatever the address was then", async () => {
    await rig.subscribe([{ subscriberId: 'sub', email: 'old@example.com' }, { subscriberId: 'eve' }]);
    await rig.approved('c');
    await rig.materialise();
    await subscribe(rig, 'sub', 'ada@example.com', new Date());
    await operationsTo(['accepted']);
    expect(await reportOf(rig, { subscriberId: 'sub' })).toMatchObject({ subscribers: 1, operations: 2, cancelled: 1 });
    expect(await statesOf()).toEqual({
      'campaign:c:sub': 'cancelled',
      'campaign:c:eve': 'queued',
      accepted: 'accepted',
    });
    expect(await tablesWith(rig, 'old@example.com')).toEqual([]);
  });

  it('who is not known is no error', async () => {
    expect(await reportOf(rig, { subscriberId: 'nobody' })).toMatchObject({ subscribers: 0, operations: 0 });
  });
});

describe('after an erasure', () => {
  it('a suppressed address stays suppressed when it comes again, and a key is still a key', async () => {
    await operationsTo(['accepted']);
    await rig.suppress('ada');
    await erase(rig, ADA);
    await rig.request(['accepted', 'again'], { addressKey: ADA_KEY });
    const worker = rig.worker();
    await worker.workUntil('all to end', async () => await rig.allIn('accepted', 'suppressed'));
    expect(await statesOf()).toEqual({ accepted: 'accepted', again: 'suppressed' });
    expect((await rig.sink.recipients()).size).toBe(0);
  });
});

async function ask(): Promise<{ tenantId: string; erasureId: string }> {
  const order = { tenantId: 'demo', person: ADA, actor: 'office', reason: 'asked for' };
  const requested = await rig.inTransaction(async (tx) => await requestErasure(tx, order));
  if (requested.kind !== 'requested') throw new Error(requested.kind);
  return { tenantId: 'demo', erasureId: requested.erasureId };
}
const report = async () => (await rig.query<{ report: object }>('SELECT report FROM erasures'))[0]?.report;

describe('an erasure in pages', () => {
  const many = Array.from({ length: 7 }, (_, index) => `n${index}`);

  it('goes on where it was cut, by any replica', async () => {
    await rig.request(many, { addressKey: ADA_KEY });
    const id = await ask();
    expect(await erasePage(placeOf(rig, 2), id)).toBe('more');
    expect(await rig.query(`SELECT FROM operations WHERE state = 'cancelled'`)).toHaveLength(2);
    await goOn(rig, 2);
    expect(await report()).toMatchObject({ operations: 7, cancelled: 7 });
    expect(await erasePage(placeOf(rig, 2), id)).toBe('idle');
    expect(await rig.query('SELECT FROM audit')).toHaveLength(1);
  });

  it('does a page again that was cut before its commit', async () => {
    await rig.request(many, { addressKey: ADA_KEY });
    const id = await ask();
    using gate = gateAt('erase.before-commit');
    const cut = erasePage(placeOf(rig, 2), id);
    await gate.reached;
    gate.open(new Error('cut'));
    await expect(cut).rejects.toThrow('cut');
    expect(await rig.query(`SELECT FROM operations WHERE state = 'queued'`)).toHaveLength(7);
    await goOn(rig, 2);
    expect(await report()).toMatchObject({ operations: 7, cancelled: 7 });
    expect(await rig.eventsOf()).toHaveLength(7);
  });

  it('is done once by replicas that work at once', async () => {
    await rig.request(many, { addressKey: ADA_KEY });
    const id = await ask();
    const alone = async (): Promise<void> => {
      while ((await erasePage(placeOf(rig, 1), id)) === 'more');
    };
    await Promise.all([alone(), goOn(rig, 1), alone()]);
    expect(await report()).toMatchObject({ operations: 7, cancelled: 7 });
    expect(await rig.query('SELECT FROM audit')).toHaveLength(1);
    expect(await rig.eventsOf()).toHaveLength(7);
  });

  it('goes through many campaigns, and receipts of nothing in pages of one', async () => {
    await rig.query(
      `INSERT INTO campaigns (tenant_id, campaign_id, revision, content_hash, class, provider, on_unknown, state)
       SELECT 'demo', 'c' || n, 1, 'h', 'marketing', 'main', 'hold', 'drafted' FROM generate_series(1, 450) n`,
    );
    await rig.campaign('last', ['ada']);
    await rig.query(
      `INSERT INTO receipts (tenant_id, provider, receipt_id, type, occurred_at, content, unmatched)
       SELECT 'demo', 'main', 'r' || n, 'bounced', now(), '{"email":"ada@example.com"}', true FROM generate_series(1, 5) n`,
    );
    await ask();
    await goOn(rig, 1);
    expect(await report()).toMatchObject({ operations: 1, receipts: 5 });
    expect(await rig.operation('ada')).toMatchObject({ state: 'cancelled', state_reason: 'erased' });
  });
});
