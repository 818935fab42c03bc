import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, fenceOf, WORKER, type AnyStatement, type GuardCase, type GuardedStatement } from './guard-case.ts';

const HASH = Buffer.alloc(32, 1);

/** `a` was called once and is unknown; due now. */
export async function unknownByHand(rig: DispatchRig, change = ''): Promise<void> {
  await rig.request(['a']);
  await callByHand(rig, 'a');
  await rig.query(
    `UPDATE operations SET state = 'unknown', claimed_by = NULL, lease_until = NULL, unknown_since = now(),
       request_hash = $1`,
    [HASH],
  );
  await rig.query(`UPDATE attempts SET outcome = 'ambiguous', ended_at = now()`);
  if (change) await rig.query(change);
}

/** Held by somebody who resolves it. */
const HELD = `UPDATE operations SET claim_seq = claim_seq + 1, claimed_by = '${WORKER}', lease_until = now() + interval '1 minute'`;

async function claim(rig: DispatchRig, statement: AnyStatement): Promise<unknown> {
  const rows = await statement.run(rig.dataSource, { provider: 'main', limit: 10, worker: WORKER, lease_seconds: 60 });
  return { claimed: rows.length, number: (await rig.operation('a')).claim_seq };
}

function notClaimed(guard: string, cuts: GuardCase['cuts'], change: string): GuardCase {
  return {
    guard,
    cuts,
    seen: 0,
    scenario: async (rig, statement) => {
      await unknownByHand(rig, change);
      return ((await claim(rig, statement)) as { claimed: number }).claimed;
    },
  };
}

export const claimUnknowns: GuardedStatement = {
  file: 'dispatch/resolve/claim-unknowns.sql',
  cases: [
    notClaimed(
      'only what is due',
      [[' AND o.resolve_at <= now()', '']],
      `UPDATE operations SET resolve_at = 'infinity'`,
    ),
    notClaimed('only what nobody holds', [[' AND o.lease_until IS NULL', '']], HELD),
    notClaimed(
      'not while the provider refuses the account',
      [[' AND p.until > now()', ' AND false']],
      `INSERT INTO provider_stops (provider, code, diagnostic, until) VALUES ('main', 'x', 'x', now() + interval '1 hour')`,
    ),
    {
      guard: 'a new claim number',
      cuts: [['claim_seq = o.claim_seq + 1, ', '']],
      seen: { claimed: 1, number: '2' },
      scenario: async (rig, statement) => {
        await unknownByHand(rig);
        return await claim(rig, statement);
      },
    },
  ],
};

async function replay(
  rig: DispatchRig,
  statement: AnyStatement,
  { hash = HASH, claimSeq }: { hash?: Buffer; claimSeq?: string } = {},
): Promise<unknown> {
  const rows = await statement.run(rig.dataSource, {
    ...(await fenceOf(rig, 'a', claimSeq)),
    request_hashes: [hash],
    account: 'account',
    worker: WORKER,
  });
  return [...rows.map((row) => row['verdict']), (await rig.attempts('a')).length];
}

function refused(
  guard: string,
  clause: string,
  verdict: string,
  change: (rig: DispatchRig) => Promise<unknown>,
): GuardCase {
  return {
    guard,
    cuts: [[clause, '']],
    seen: [verdict, 1],
    scenario: async (rig, statement) => {
      await unknownByHand(rig, HELD);
      await change(rig);
      return await replay(rig, statement);
    },
  };
}

export const commitReplays: GuardedStatement = {
  file: 'dispatch/resolve/commit-replays.sql',
  cases: [
    {
      guard: 'the claim number',
      cuts: [[' AND o.claim_seq = i.claim_seq', '']],
      seen: [1],
      scenario: async (rig, statement) => {
        await unknownByHand(rig, HELD);
        return await replay(rig, statement, { claimSeq: '1' });
      },
    },
    {
      guard: 'only what is unknown',
      cuts: [[`o.state = 'unknown' AND `, '']],
      seen: [1],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        await rig.query('UPDATE operations SET request_hash = $1', [HASH]);
        await rig.query('UPDATE operations SET claim_seq = 2');
        return await replay(rig, statement);
      },
    },
    {
      guard: 'only within the lease',
      cuts: [[' AND coalesce(o.lease_until > now(), false)', '']],
      seen: [1],
      scenario: async (rig, statement) => {
        await unknownByHand(rig, HELD);
        await rig.query(`UPDATE operations SET lease_until = now() - interval '1 second'`);
        return await replay(rig, statement);
      },
    },
    {
      guard: 'the bytes of the first call',
      cuts: [[`WHEN o.request_hash IS DISTINCT FROM i.request_hash THEN 'definition-changed'\n           `, '']],
      seen: ['definition-changed', 1],
      scenario: async (rig, statement) => {
        await unknownByHand(rig, HELD);
        return await replay(rig, statement, { hash: Buffer.alloc(32, 2) });
      },
    },
    refused(
      'the deadline',
      `WHEN o.deadline <= now() THEN 'expired'\n           `,
      'expired',
      async (rig) => await rig.query('UPDATE operations SET deadline = now()'),
    ),
    refused(
      'the campaign',
      `WHEN o.campaign_id IS NOT NULL AND NOT coalesce(c.state = 'sending' AND c.revision = o.revision, false)
             THEN 'held-back'\n           `,
      'held-back',
      async (rig) => await rig.query(`UPDATE operations SET campaign_id = 'gone', revision = 1, subscriber_id = 'a'`),
    ),
    refused(
      'the approval',
      `WHEN o.approval_object IS NOT NULL AND a.object IS NULL THEN 'not-approved'\n           `,
      'not-approved',
      async (rig) => await rig.query(`UPDATE operations SET approval_object = 'offer', approval_revision = 1`),
    ),
    refused(
      'the suppression list',
      `WHEN hit.reason IS NOT NULL THEN 'suppressed'\n           `,
      'suppressed',
      async (rig) => await rig.suppress('a'),
    ),
  ],
};

async function recordReplay(rig: DispatchRig, statement: AnyStatement, claimSeq: string): Promise<unknown> {
  await statement.run(rig.dataSource, {
    ...(await fenceOf(rig, 'a', claimSeq)),
    outcomes: ['accepted'],
    codes: ['code'],
    diagnostics: ['said'],
    effect_ids: ['effect'],
  });
  return (await rig.attempts('a')).map((attempt) => attempt.outcome);
}

export const recordReplays: GuardedStatement = {
  file: 'dispatch/resolve/record-replays.sql',
  cases: [
    {
      guard: 'evidence is written once',
      cuts: [[`\n  AND (a.outcome IS NULL OR a.outcome = 'lost')`, '']],
      seen: ['ambiguous'],
      scenario: async (rig, statement) => {
        await unknownByHand(rig);
        return await recordReplay(rig, statement, '1');
      },
    },
    {
      guard: 'the claim number',
      cuts: [[' AND a.claim_seq = i.claim_seq', '']],
      seen: ['lost', 'accepted'],
      scenario: async (rig, statement) => {
        await unknownByHand(rig, HELD);
        await rig.query(`UPDATE attempts SET outcome = 'lost'`);
        await rig.query(
          `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, purpose)
           SELECT tenant_id, operation_id, 2, 'main', $1, 'replay' FROM operations`,
          [WORKER],
        );
        return await recordReplay(rig, statement, '2');
      },
    },
  ],
};

async function settle(
  rig: DispatchRig,
  statement: AnyStatement,
  claimSeq?: string,
  state = 'unknown',
): Promise<unknown> {
  await statement.run(rig.dataSource, {
    ...(await fenceOf(rig, 'a', claimSeq)),
    states: [state],
    new_states: ['delivered'],
    reasons: ['receipt: delivered'],
    effect_ids: [null],
    resolved_bys: ['receipt'],
    doubleds: [false],
    outcomes: ['delivered'],
    codes: ['receipt'],
  });
  const row = await rig.operation('a');
  return { state: row.state, number: row.claim_seq };
}

export const settleByEvidence: GuardedStatement = {
  file: 'operations/settle-by-evidence/settle-by-evidence.sql',
  cases: [
    {
      guard: 'the claim number that was read',
      cuts: [[' AND o.claim_seq = i.claim_seq', '']],
      seen: { state: 'unknown', number: '2' },
      scenario: async (rig, statement) => {
        await unknownByHand(rig, HELD);
        return await settle(rig, statement, '1');
      },
    },
    {
      guard: 'the state that was read',
      cuts: [[' AND o.state = i.state', '']],
      seen: { state: 'unknown', number: '1' },
      scenario: async (rig, statement) => {
        await unknownByHand(rig);
        return await settle(rig, statement, undefined, 'accepted');
      },
    },
    {
      guard: 'a new claim number for who may hold the old one',
      cuts: [['claim_seq = o.claim_seq + CASE WHEN i.resolved_by IS NULL THEN 0 ELSE 1 END, ', '']],
      seen: { state: 'delivered', number: '3' },
      scenario: async (rig, statement) => {
        await unknownByHand(rig, HELD);
        return await settle(rig, statement);
      },
    },
  ],
};
