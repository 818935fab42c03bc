import type { DispatchRig } from '../../support/dispatch-rig.ts';
import {
  callByHand,
  fenceOf,
  WORKER,
  whileHeld,
  type AnyStatement,
  type GuardCase,
  type GuardedStatement,
} from './guard-case.ts';

const BATCH = '00000000-0000-4000-8000-00000000000b';

const ofB = `operation_id = (SELECT operation_id FROM operations WHERE operation_key = 'b')`;

/** `a` and `b` were called together and are unknown; `a` is held by somebody who resolves it. */
async function batchByHand(rig: DispatchRig, change = ''): Promise<void> {
  await rig.request(['a', 'b']);
  await callByHand(rig, 'a');
  await callByHand(rig, 'b');
  await rig.query(
    `UPDATE operations SET state = 'unknown', claimed_by = NULL, lease_until = NULL, unknown_since = now()`,
  );
  await rig.query(`UPDATE attempts SET outcome = 'ambiguous', ended_at = now(), batch_id = $1`, [BATCH]);
  await rig.query(
    `UPDATE operations SET claim_seq = claim_seq + 1, claimed_by = $1, lease_until = now() + interval '1 minute'
     WHERE operation_key = 'a'`,
    [WORKER],
  );
  if (change) await rig.query(change);
}

/** What is said of `a`, and its attempts with their batch. */
async function replay(rig: DispatchRig, statement: AnyStatement, claimSeq?: string): Promise<unknown> {
  const rows = await statement.run(rig.dataSource, {
    ...(await fenceOf(rig, 'a', claimSeq)),
    batch: BATCH,
    account: 'account',
    worker: WORKER,
  });
  const replays = await rig.query<{ operation_key: string; batch_id: string | null }>(
    `SELECT operation_key, batch_id FROM attempts JOIN operations USING (tenant_id, operation_id) WHERE account = 'account'`,
  );
  return [...rows.map((row) => row['verdict']), ...replays];
}

const COMMITTED = ['committed', { operation_key: 'a', batch_id: BATCH }];

function seen(guard: string, cuts: GuardCase['cuts'], change: string, expected: unknown): GuardCase {
  return {
    guard,
    cuts,
    seen: expected,
    scenario: async (rig, statement) => {
      await batchByHand(rig, change);
      return await replay(rig, statement);
    },
  };
}

/** Something about the other member, which nobody has claimed. */
function heldBack(guard: string, cuts: GuardCase['cuts'], change: string): GuardCase {
  return seen(guard, cuts, change, ['definition-changed']);
}

const MOVED_ON = `WHEN NOT (o.state = 'unknown' OR (o.state = 'calling' AND o.claim_seq = b.claim_seq)) THEN 'moved-on'`;
const SUPPRESS_B = `INSERT INTO suppressions (tenant_id, address_key, scope, key_version, reason, active, cause, fact_time)
  SELECT 'demo', address_key, 'all', 1, 'unsubscribed', true, 'test', now() FROM operations WHERE operation_key = 'b'`;
const DELIVERED_B = `UPDATE operations SET state = 'delivered', resolved_by = 'receipt' WHERE operation_key = 'b'`;

export const commitBatchReplay: GuardedStatement = {
  file: 'dispatch/resolve/commit-batch-replay.sql',
  cases: [
    seen('its batch is kept with the replay', [[`'replay', :batch::uuid`, `'replay', NULL::uuid`]], '', COMMITTED),
    {
      guard: 'the claim number',
      cuts: [[' AND m.claim_seq = i.claim_seq', '']],
      seen: [],
      scenario: async (rig, statement) => {
        await batchByHand(rig);
        return await replay(rig, statement, '1');
      },
    },
    seen(
      'only what is unknown',
      [[`m.state = 'unknown' AND `, '']],
      `UPDATE operations SET state = 'calling' WHERE operation_key = 'a'`,
      [],
    ),
    seen(
      'only within the lease',
      [[' AND coalesce(m.lease_until > now(), false)', '']],
      `UPDATE operations SET lease_until = now() - interval '1 second' WHERE operation_key = 'a'`,
      [],
    ),
    seen(
      'its own suppression is told as such',
      [[`WHEN m.flaw <> 'moved-on' THEN m.flaw\n           `, '']],
      SUPPRESS_B.replace(`'b'`, `'a'`),
      ['suppressed'],
    ),
    heldBack(
      'the others count',
      [
        [
          `WHEN EXISTS (SELECT FROM members other WHERE other.flaw IS NOT NULL) THEN 'definition-changed'\n           `,
          '',
        ],
      ],
      SUPPRESS_B,
    ),
    heldBack(
      'the suppression of another',
      [[`WHEN hit.reason IS NOT NULL THEN 'suppressed'\n         `, '']],
      SUPPRESS_B,
    ),
    heldBack(
      'the deadline of another',
      [[`WHEN o.deadline <= now() THEN 'expired'\n           `, '']],
      `UPDATE operations SET deadline = now() WHERE operation_key = 'b'`,
    ),
    heldBack(
      'the approval of another',
      [[`WHEN o.approval_object IS NOT NULL AND p.object IS NULL THEN 'not-approved'\n           `, '']],
      `UPDATE operations SET approval_object = 'offer', approval_revision = 1 WHERE operation_key = 'b'`,
    ),
    heldBack(
      'another that is queued again',
      [[`${MOVED_ON}\n           `, '']],
      `UPDATE operations SET state = 'queued' WHERE operation_key = 'b'`,
    ),
    {
      guard: 'a decision about another at the same moment',
      cuts: [['  FOR NO KEY UPDATE OF o\n', '']],
      seen: ['definition-changed'],
      scenario: async (rig, statement) => {
        await batchByHand(rig);
        const decided = `UPDATE operations SET state = 'queued', claim_seq = claim_seq + 1 WHERE operation_key = 'b'`;
        return (await whileHeld(rig, decided, async () => await replay(rig, statement))).result;
      },
    },
    heldBack(
      'another that is being called by itself',
      [[' AND o.claim_seq = b.claim_seq)', ')']],
      `UPDATE operations SET state = 'calling', claim_seq = 2, claimed_by = '${WORKER}',
         lease_until = now() + interval '1 minute' WHERE operation_key = 'b'`,
    ),
    seen(
      'another that is still in the first call keeps nobody back',
      [[` OR (o.state = 'calling' AND o.claim_seq = b.claim_seq)`, '']],
      `UPDATE operations SET state = 'calling', claimed_by = '${WORKER}', lease_until = now() + interval '1 minute'
       WHERE operation_key = 'b'`,
      COMMITTED,
    ),
    heldBack(
      'another that was told that the call had no effect',
      [
        [
          `WHEN b.outcome IN ('not-sent', 'throttled', 'rejected', 'suppressed', 'account') THEN 'moved-on'\n           `,
          '',
        ],
      ],
      `UPDATE attempts SET outcome = 'throttled' WHERE ${ofB}`,
    ),
    heldBack(
      'another with a later call of its own',
      [['AND a.claim_seq > b.claim_seq', 'AND false']],
      `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker)
       SELECT tenant_id, operation_id, 5, 'main', '${WORKER}' FROM operations WHERE operation_key = 'b'`,
    ),
    seen(
      'a replay of another is no later call',
      [[`\n               AND a.purpose = 'deliver'\n           ) THEN 'moved-on'`, `\n           ) THEN 'moved-on'`]],
      `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, purpose, outcome, ended_at)
       SELECT tenant_id, operation_id, 5, 'main', '${WORKER}', 'replay', 'ambiguous', now() FROM operations
       WHERE operation_key = 'b'`,
      COMMITTED,
    ),
    seen(
      'an accepted answer to the batch proves that it arrived',
      [[`AND a.outcome = 'accepted'`, 'AND false']],
      `WITH told AS (UPDATE attempts SET outcome = 'accepted' WHERE ${ofB})
       UPDATE operations SET state = 'accepted' WHERE operation_key = 'b'`,
      COMMITTED,
    ),
    seen(
      'a report about another proves that it arrived',
      [[`m.resolved_by IN ('receipt', 'lookup')`, 'false']],
      DELIVERED_B,
      COMMITTED,
    ),
    heldBack(
      'what a person says of another proves nothing',
      [[` AND m.resolved_by IN ('receipt', 'lookup')`, '']],
      DELIVERED_B.replace('receipt', 'person'),
    ),
    heldBack(
      'a report that may be about another call proves nothing',
      [['AND a.batch_id IS DISTINCT FROM :batch::uuid\n', 'AND false\n']],
      `WITH told AS (${DELIVERED_B})
       INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker)
       SELECT tenant_id, operation_id, 0, 'main', '${WORKER}' FROM operations WHERE operation_key = 'b'`,
    ),
  ],
};

async function members(rig: DispatchRig, statement: AnyStatement): Promise<unknown> {
  const rows = await statement.run(rig.dataSource, { batch: BATCH });
  return rows.map((row) => String(row['operation_key'])).toSorted((a, b) => a.localeCompare(b));
}

export const readBatch: GuardedStatement = {
  file: 'dispatch/resolve/read-batch.sql',
  cases: [
    {
      guard: 'its members alone',
      cuts: [['a.batch_id = :batch::uuid AND ', ':batch::uuid IS NOT NULL AND ']],
      seen: ['a', 'b'],
      scenario: async (rig, statement) => {
        await batchByHand(rig);
        await rig.request(['c']);
        await callByHand(rig, 'c');
        return await members(rig, statement);
      },
    },
    {
      guard: 'each of them once',
      cuts: [[` AND a.purpose = 'deliver'`, '']],
      seen: ['a', 'b'],
      scenario: async (rig, statement) => {
        await batchByHand(rig);
        await rig.query(
          `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, purpose, batch_id)
           SELECT tenant_id, operation_id, 5, 'main', $1, 'replay', $2 FROM operations WHERE operation_key = 'b'`,
          [WORKER, BATCH],
        );
        return await members(rig, statement);
      },
    },
  ],
};
