import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { ConsumedRecord } from '../../../src/messaging/kafka/record-chunk.ts';
import type { DataOf } from '../../../src/messaging/contracts/registry.ts';
import { campaignContentHash } from '../../../src/operations/payload-hash.ts';
import { gateAt } from '../../../src/runtime/signal.ts';
import { revisionOf } from '../../support/campaign.ts';
import { cutGuard } from '../../support/cut-guard.ts';
import { domainHandlers } from '../../support/domain-handlers.ts';
import { eventually } from '../../support/eventually.ts';
import { eventRecord, openMessagingRig, type MessagingRig } from '../../support/messaging-rig.ts';

vi.mock('../../../src/database/statement.ts', async (original) =>
  (await import('../../support/cut-guard.ts')).cuttable(await original()),
);

let rig: MessagingRig;
const handlers = domainHandlers();

beforeAll(async () => {
  rig = await openMessagingRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => {
  await rig.close();
});

type Grant = DataOf<'einmal.approval.granted.v1'>;

const NOW = Date.now();
const at = (second: number) => ({ time: new Date(NOW - 600_000 + second * 1000) });
const submitted = (campaignId: string, revision = 1, second = 0) =>
  eventRecord(
    'einmal.campaign.revision-submitted.v1',
    revisionOf(campaignId, { revision, subject: `Revision ${revision}` }),
    at(second),
  );
const hashOf = (campaignId: string, revision = 1) =>
  campaignContentHash(revisionOf(campaignId, { revision, subject: `Revision ${revision}` }));
const granted = (campaignId: string, parts: Partial<Grant> = {}, second = 0) => {
  const { revision = 1 } = parts;
  const data = {
    object: `campaign:${campaignId}`,
    revision,
    hash: hashOf(campaignId, revision),
    approvedBy: 'grace',
    ...parts,
  };
  return eventRecord('einmal.approval.granted.v1', data, at(second));
};
const withdrawn = (campaignId: string, second = 0, revision = 1) =>
  eventRecord('einmal.approval.withdrawn.v1', { object: `campaign:${campaignId}`, revision, by: 'grace' }, at(second));

const topicOf = (record: ConsumedRecord) => (record.topic.includes('campaigns') ? 'campaigns' : 'approvals');

/** Each record as a chunk of its own. */
async function arrive(...records: ConsumedRecord[]): Promise<void> {
  for (const record of records) {
    expect(await rig.consumer(topicOf(record), handlers).take([record])).toEqual({ kind: 'done' });
  }
}

async function stateOf(campaignId: string): Promise<string | undefined> {
  const [row] = await rig.query<{ state: string }>('SELECT state FROM campaigns WHERE campaign_id = $1', [campaignId]);
  return row?.state;
}

/** Short types, with the reason of a refusal. */
async function told(campaignId: string): Promise<string[]> {
  const events = (await rig.events()).filter((event) => event.data['campaignId'] === campaignId);
  return events.map(({ type, data }) => {
    const short = type.replace(/^einmal\.campaign\.|\.v1$/g, '');
    return short === 'refused' ? `refused: ${String(data['reason'])}` : short;
  });
}

const atTheSameMoment = async (first: 'campaigns' | 'approvals') => {
  const id = randomUUID();
  const records = { campaigns: submitted(id), approvals: granted(id) };
  const second = first === 'campaigns' ? 'approvals' : 'campaigns';
  using gate = gateAt('inbox.before-commit');
  const one = rig.consumer(first, handlers).take([records[first]]);
  await gate.reached;
  using otherGate = gateAt('inbox.before-commit');
  let reached = false;
  void otherGate.reached.then(() => (reached = true));
  const other = rig.consumer(second, handlers).take([records[second]]);
  await eventually(
    'the other to wait for the lock, or to be ready to commit',
    10_000,
    async () => reached || (await waits()),
  );
  gate.open();
  otherGate.open();
  expect(await Promise.all([one, other])).toEqual([{ kind: 'done' }, { kind: 'done' }]);
  return { state: await stateOf(id), approvals: (await told(id)).filter((each) => each === 'approved').length };
};

describe('a revision and its approval', () => {
  it('approve the campaign once, whichever arrives first, and also when both come again', async () => {
    for (const revisionFirst of [true, false]) {
      const id = randomUUID();
      const both = [submitted(id), granted(id)];
      await arrive(...(revisionFirst ? both : both.toReversed()), submitted(id), granted(id));
      expect(await stateOf(id)).toBe('approved');
      expect((await told(id)).filter((each) => each === 'approved')).toHaveLength(1);
    }
  });

  it.each(['campaigns', 'approvals'] as const)(
    'by two consumers at the same moment, %s first: approved once',
    async (first) => {
      expect(await atTheSameMoment(first)).toEqual({ state: 'approved', approvals: 1 });
    },
  );

  it('guard: without the lock neither would see the other', async () => {
    using _cut = cutGuard('lock-objects.sql', 'pg_advisory_xact_lock(i.lock)', 'i.lock');
    expect(await atTheSameMoment('campaigns')).toEqual({ state: 'drafted', approvals: 0 });
  });
});

describe('an approval that does not fit', () => {
  it('another hash is refused with the reason, before and after the revision, and changes nothing', async () => {
    for (const early of [true, false]) {
      const id = randomUUID();
      const wrong = granted(id, { hash: `sha256:${'0'.repeat(64)}` });
      await arrive(...(early ? [wrong, submitted(id)] : [submitted(id), wrong]));
      expect(await told(id)).toEqual(['drafted', 'refused: hash-differs']);
      expect(await stateOf(id)).toBe('drafted');
    }
  });

  it('another hash for a campaign that is approved already is refused too', async () => {
    const id = randomUUID();
    await arrive(submitted(id), granted(id, {}, 1), granted(id, { hash: `sha256:${'0'.repeat(64)}` }, 2));
    expect(await told(id)).toEqual(['drafted', 'approved', 'refused: hash-differs']);
    expect(await stateOf(id)).toBe('approved');
  });

  it('one for an old revision is refused, and one for a revision to come waits for it', async () => {
    const id = randomUUID();
    await arrive(submitted(id, 1), submitted(id, 2), granted(id, { revision: 1 }), granted(id, { revision: 3 }));
    expect(await told(id)).toEqual(['drafted', 'drafted', 'refused: revision-not-newest']);
    await arrive(submitted(id, 3));
    expect((await told(id)).slice(3)).toEqual(['drafted', 'approved']);
  });

  it('an expired one is refused, before and after the revision', async () => {
    for (const early of [true, false]) {
      const id = randomUUID();
      const expired = granted(id, { expiresAt: '2020-01-01T00:00:00Z' });
      await arrive(...(early ? [expired, submitted(id)] : [submitted(id), expired]));
      expect(await told(id)).toEqual(['drafted', 'refused: approval-expired']);
    }
  });

  it('a newer revision takes an approved campaign back to drafted, and needs its own', async () => {
    const id = randomUUID();
    await arrive(submitted(id, 1), granted(id, { revision: 1 }), submitted(id, 2));
    expect(await stateOf(id)).toBe('drafted');
    await arrive(granted(id, { revision: 2 }));
    expect(await stateOf(id)).toBe('approved');
  });

  it.each([
    ['approve-campaign.sql', 'AND a.hash = c.content_hash', { hash: `sha256:${'0'.repeat(64)}` }],
    [
      'approve-campaign.sql',
      'AND (a.expires_at IS NULL OR a.expires_at > now())',
      { expiresAt: '2020-01-01T00:00:00Z' },
    ],
  ])('guard: %s without "%s" would approve it', async (file, guard, parts) => {
    using _cut = cutGuard(file, guard);
    const id = randomUUID();
    await arrive(granted(id, parts), submitted(id));
    expect(await stateOf(id)).toBe('approved');
  });
});

describe('a withdrawal', () => {
  it('takes an approved campaign back, and one that came first keeps it from being approved', async () => {
    const id = randomUUID();
    await arrive(submitted(id), granted(id, {}, 1), withdrawn(id, 2));
    expect(await stateOf(id)).toBe('drafted');
    expect(await told(id)).toEqual(['drafted', 'approved', 'drafted']);
    const other = randomUUID();
    await arrive(withdrawn(other, 2), granted(other, {}, 1), submitted(other));
    expect(await stateOf(other)).toBe('drafted');
    await arrive(granted(other, {}, 3));
    expect(await stateOf(other)).toBe('approved');
  });

  it('that is older than the approval, and arrives after it, changes nothing', async () => {
    const id = randomUUID();
    await arrive(submitted(id), granted(id, {}, 2), withdrawn(id, 1));
    expect(await stateOf(id)).toBe('approved');
    expect(await told(id)).toEqual(['drafted', 'approved']);
  });

  it('of another revision changes nothing', async () => {
    const id = randomUUID();
    await arrive(submitted(id, 1), submitted(id, 2), granted(id, { revision: 2 }), withdrawn(id, 5, 1));
    expect(await stateOf(id)).toBe('approved');
  });
});

describe('a revision', () => {
  it('again with other content is refused and does not replace the first', async () => {
    const id = randomUUID();
    const other = eventRecord('einmal.campaign.revision-submitted.v1', revisionOf(id, { subject: 'other' }));
    await arrive(submitted(id), other);
    expect(await told(id)).toEqual(['drafted', 'refused: revision-has-other-content']);
    const [row] = await rig.query<{ content_hash: string }>(
      'SELECT content_hash FROM campaigns WHERE campaign_id = $1',
      [id],
    );
    expect(row?.content_hash).toBe(hashOf(id));
  });

  it('that is not the newest is refused; requests about a campaign that is not there too', async () => {
    const id = randomUUID();
    await arrive(submitted(id, 2), submitted(id, 1));
    expect(await told(id)).toEqual(['drafted', 'refused: revision-not-newest']);
    const nowhere = randomUUID();
    await arrive(eventRecord('einmal.campaign.pause-requested.v1', { campaignId: nowhere, by: 'grace' }));
    expect(await told(nowhere)).toEqual(['refused: campaign-not-there']);
  });
});

async function waits(): Promise<boolean> {
  const rows = await rig.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
  );
  return rows.length > 0;
}
