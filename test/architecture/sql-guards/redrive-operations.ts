import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, type AnyStatement, type GuardedStatement } from './guard-case.ts';

async function redrive(
  rig: DispatchRig,
  statement: AnyStatement,
  tenant = 'demo',
  claimSeq?: string,
): Promise<unknown> {
  const { operation_id, claim_seq } = await rig.operation('a');
  await statement.run(rig.dataSource, {
    tenants: [tenant],
    operation_ids: [operation_id],
    claim_seqs: [claimSeq ?? claim_seq],
    reasons: ['by a test'],
    deadlines: [null],
    delays_ms: [0],
  });
  const [row] = await rig.query<Record<string, unknown>>(
    'SELECT state, claim_seq, deadline, request_hash IS NOT NULL AS held FROM operations',
  );
  return row;
}

async function end(rig: DispatchRig, parts = ''): Promise<void> {
  await rig.request(['a']);
  await rig.query(`UPDATE operations SET state = 'dead', state_reason = 'x', claim_seq = 4${parts}`);
}

const KEPT = { state: 'dead', claim_seq: '4', deadline: null, held: false };

export const redriveOperations: GuardedStatement = {
  file: 'operations/redrive-operations/redrive-operations.sql',
  cases: [
    {
      guard: 'not what is being called',
      cuts: [[`o.state IN ('dead', 'rejected', 'expired') AND`, '']],
      seen: expectation({ state: 'calling', claim_seq: '1' }),
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        return await redrive(rig, statement);
      },
    },
    {
      guard: 'only as it was seen',
      cuts: [['AND o.claim_seq = i.claim_seq', '']],
      seen: KEPT,
      scenario: async (rig, statement) => {
        await end(rig);
        return await redrive(rig, statement, 'demo', '3');
      },
    },
    {
      guard: 'a new claim number',
      cuts: [['claim_seq = o.claim_seq + 1,', '']],
      seen: expectation({ state: 'queued', claim_seq: '5' }),
      scenario: async (rig, statement) => {
        await end(rig);
        return await redrive(rig, statement);
      },
    },
    {
      guard: 'not without its contents',
      cuts: [[' AND o.scrubbed_at IS NULL', '']],
      seen: KEPT,
      scenario: async (rig, statement) => {
        await end(rig, ', scrubbed_at = now()');
        return await redrive(rig, statement);
      },
    },
    {
      guard: 'only this tenant',
      cuts: [['o.tenant_id = i.tenant_id AND ', '']],
      seen: KEPT,
      scenario: async (rig, statement) => {
        await end(rig);
        return await redrive(rig, statement, 'other');
      },
    },
    {
      guard: 'no deadline that has passed',
      cuts: [['WHEN o.deadline > now() THEN o.deadline END', 'ELSE o.deadline END']],
      seen: expectation({ state: 'queued', claim_seq: '5' }),
      scenario: async (rig, statement) => {
        await end(rig, `, deadline = now() - interval '1 hour'`);
        return await redrive(rig, statement);
      },
    },
    {
      guard: 'the same bytes, when an attempt may have had an effect',
      cuts: [['request_hash = CASE WHEN a.may_have_had_effect THEN o.request_hash END', 'request_hash = NULL']],
      seen: expectation({ state: 'queued', claim_seq: '5', held: true }),
      scenario: async (rig, statement) => {
        await end(rig, ', request_hash = payload_hash');
        await rig.query(
          `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker, ended_at, outcome)
           SELECT tenant_id, operation_id, 1, 'main', gen_random_uuid(), now(), 'ambiguous' FROM operations`,
        );
        return await redrive(rig, statement);
      },
    },
  ],
};

function expectation(parts: Record<string, unknown>): Record<string, unknown> {
  return { ...KEPT, ...parts };
}
