import type { DispatchRig } from '../../support/dispatch-rig.ts';
import {
  callByHand,
  claimByHand,
  fenceOf,
  WORKER,
  whileHeld,
  type AnyStatement,
  type GuardCase,
  type GuardedStatement,
} from './guard-case.ts';

async function commit(rig: DispatchRig, statement: AnyStatement, name: string, claimSeq?: string): Promise<unknown> {
  const fence = await fenceOf(rig, name, claimSeq);
  const rows = await statement.run(rig.dataSource, {
    ...fence,
    request_hashes: [HASH],
    request_shapes: [null],
    batch_ids: [BATCH],
    provider: 'main',
    account: 'account',
    worker: WORKER,
  });
  const state = (await rig.operation(name)).state;
  return [...rows.map((row) => row['verdict']), state];
}

const HASH = Buffer.alloc(32, 1);
const BATCH = '00000000-0000-4000-8000-00000000000b';

const approval = { object: 'offer', revision: 3 };

/** An operation that needs an approval, and the approval as the scenario wants it. */
function approvalCase(guard: string, clause: string, columns: string): GuardCase {
  return {
    guard,
    cuts: [[clause, '']],
    seen: ['not-approved', 'claimed'],
    scenario: async (rig, statement) => {
      await rig.request(['a'], { approval });
      await rig.query(
        `INSERT INTO approvals (tenant_id, object, revision, hash, granted, decided_by, expires_at, fact_time)
         SELECT 'demo', 'offer', ${columns}, now()
         FROM operations, LATERAL (SELECT 'sha256:' || encode(payload_hash, 'hex')) AS h(right_hash)`,
      );
      await claimByHand(rig, 'a');
      return await commit(rig, statement, 'a');
    },
  };
}

export const commitIntents: GuardedStatement = {
  file: 'dispatch/commit-intents.sql',
  cases: [
    {
      guard: 'the claim number',
      cuts: [[' AND o.claim_seq = i.claim_seq', '']],
      seen: ['claimed'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        await claimByHand(rig, 'a');
        return await commit(rig, statement, 'a', '1');
      },
    },
    {
      guard: 'only what is claimed',
      cuts: [
        [`WHERE o.state = 'claimed' AND `, 'WHERE '],
        [` AND o.state = 'claimed'`, ''],
      ],
      seen: ['calling'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'only inside the lease',
      cuts: [[' AND coalesce(o.lease_until > now(), false)', '']],
      seen: ['claimed'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a', -1);
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'the deadline',
      cuts: [[`WHEN o.deadline <= now() THEN 'expired'`, '']],
      seen: ['expired', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        await rig.query(`UPDATE operations SET deadline = now() - interval '1 second'`);
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'the campaign is sending',
      cuts: [[`c.state = 'sending' AND `, '']],
      seen: ['held-back', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await claimByHand(rig, 'a');
        await rig.query(`UPDATE campaigns SET state = 'paused'`);
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'the revision of the campaign',
      cuts: [[' AND c.revision = o.revision', '']],
      seen: ['held-back', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await claimByHand(rig, 'a');
        await rig.query('UPDATE campaigns SET revision = 2');
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'a campaign that is not there holds back',
      cuts: [
        ['NOT coalesce(c.state', 'NOT (c.state'],
        [', false)', ')'],
      ],
      seen: ['held-back', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await claimByHand(rig, 'a');
        await rig.query('DELETE FROM campaigns');
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'an approval, where one is asked for',
      cuts: [[`WHEN o.approval_object IS NOT NULL AND a.object IS NULL THEN 'not-approved'`, '']],
      seen: ['not-approved', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.request(['a'], { approval });
        await claimByHand(rig, 'a');
        return await commit(rig, statement, 'a');
      },
    },
    approvalCase(
      'the approval of this revision',
      ' AND a.revision = o.approval_revision',
      `2, right_hash, true, 'b', NULL`,
    ),
    approvalCase('an approval that stands', 'a.granted AND ', `3, right_hash, false, 'b', NULL`),
    approvalCase(
      'the approval of this content',
      ` AND a.hash = 'sha256:' || encode(coalesce(o.approval_hash, o.payload_hash), 'hex')`,
      `3, 'sha256:other', true, 'b', NULL`,
    ),
    approvalCase(
      'an approval that has not expired',
      '\n    AND (a.expires_at IS NULL OR a.expires_at > now())',
      `3, right_hash, true, 'b', now() - interval '1 second'`,
    ),
    {
      guard: 'the suppression list',
      cuts: [[`WHEN hit.reason IS NOT NULL THEN 'suppressed'`, '']],
      seen: ['suppressed', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        await rig.suppress('a');
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'a cancellation at the same moment',
      cuts: [
        ['FOR NO KEY UPDATE OF o', ''],
        [`\n    AND o.claim_seq = h.claim_seq AND o.state = 'claimed'`, ''],
      ],
      seen: ['cancelled'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        const cancel = `UPDATE operations SET state = 'cancelled', state_reason = 'x', claim_seq = claim_seq + 1,
          claimed_by = NULL, lease_until = NULL`;
        return (await whileHeld(rig, cancel, async () => await commit(rig, statement, 'a'))).result;
      },
    },
    {
      guard: 'the bytes of the first attempt',
      cuts: [[`\n           WHEN o.request_hash <> i.request_hash THEN 'definition-changed'`, '']],
      seen: ['definition-changed', 'claimed'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        await rig.query('UPDATE operations SET request_hash = $1', [Buffer.alloc(32, 2)]);
        return await commit(rig, statement, 'a');
      },
    },
    {
      guard: 'the batch of the call',
      cuts: [
        [':account, request_hash, step, batch_id FROM called', ':account, request_hash, step, NULL::uuid FROM called'],
      ],
      seen: [{ batch_id: BATCH }],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        await commit(rig, statement, 'a');
        return await rig.query('SELECT batch_id FROM attempts');
      },
    },
  ],
};
