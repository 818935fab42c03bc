import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, claimByHand, fenceOf, type AnyStatement, type GuardedStatement } from './guard-case.ts';

interface Said {
  readonly claimSeq?: string;
  readonly tenant?: string;
  readonly state?: string;
  readonly step?: string;
}

/** Called once, the worker lost: unknown, under number 2. */
async function unknown(rig: DispatchRig): Promise<void> {
  await rig.request(['a']);
  await callByHand(rig, 'a', -1);
  await rig.rescue();
}

async function settle(rig: DispatchRig, statement: AnyStatement, said: Said = {}): Promise<unknown> {
  const { claimSeq, tenant = 'demo', state = 'accepted', step = 'person' } = said;
  const rows = await statement.run(rig.dataSource, {
    ...(await fenceOf(rig, 'a', claimSeq)),
    tenants: [tenant],
    states: [state],
    reasons: ['because'],
    resolved_bys: [state === 'unknown' ? null : 'person'],
    effect_ids: [null],
    resolve_ats: ['-infinity'],
    steps: [step],
    outcomes: ['said'],
    codes: [null],
    diagnostics: [null],
    decided_bys: ['ann'],
  });
  const [evidence] = await rig.query<{ kept: number }>('SELECT count(*)::integer AS kept FROM evidence');
  const { state: now, claim_seq: number } = await rig.operation('a');
  return { held: rows.length, state: now, number, kept: evidence?.kept };
}

const PERSON = `(i.step NOT IN ('person', 'policy') OR (o.claim_seq = i.claim_seq AND o.state = 'unknown'
      AND (i.step = 'policy' OR o.lease_until IS NULL)))`;

export const settleUnknowns: GuardedStatement = {
  file: 'operations/settle-unknowns/settle-unknowns.sql',
  cases: [
    {
      guard: 'the claim number: somebody has tried something since',
      cuts: [
        [` AND o.claim_seq = i.claim_seq AND o.state = 'unknown'\nRETURNING`, ` AND o.state = 'unknown'\nRETURNING`],
      ],
      seen: { held: 0, state: 'unknown', number: '2', kept: 0 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        return await settle(rig, statement, { claimSeq: '1' });
      },
    },
    {
      guard: 'only what is unknown',
      cuts: [[` AND o.state = 'unknown'\nRETURNING`, '\nRETURNING']],
      seen: { held: 0, state: 'claimed', number: '3', kept: 1 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        await rig.query(`UPDATE operations SET state = 'queued'`);
        await claimByHand(rig, 'a');
        return await settle(rig, statement, { step: 'lookup' });
      },
    },
    {
      guard: 'no person decides while somebody may be replaying',
      cuts: [[`\n  AND (i.step IS DISTINCT FROM 'person' OR o.lease_until IS NULL)`, '']],
      seen: { held: 0, state: 'unknown', number: '2', kept: 0 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        await rig.query(
          `UPDATE operations SET claimed_by = gen_random_uuid(), lease_until = now() + interval '1 minute'`,
        );
        return await settle(rig, statement);
      },
    },
    {
      guard: 'only this tenant',
      cuts: [['WHERE o.tenant_id = i.tenant_id AND ', 'WHERE ']],
      seen: { held: 0, state: 'unknown', number: '2', kept: 0 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        return await settle(rig, statement, { tenant: 'other' });
      },
    },
    {
      guard: 'a new claim number, so that whoever resolves or decides with the old one writes nothing more',
      cuts: [['claim_seq = o.claim_seq + 1, ', '']],
      seen: { held: 1, state: 'unknown', number: '3', kept: 1 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        return await settle(rig, statement, { state: 'unknown' });
      },
    },
    {
      guard: 'no evidence of a person whose decision did not count',
      cuts: [[PERSON, 'true']],
      seen: { held: 0, state: 'unknown', number: '2', kept: 0 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        return await settle(rig, statement, { claimSeq: '1' });
      },
    },
    {
      guard: 'nor of one who decided what was known by then',
      cuts: [[PERSON, `(i.step NOT IN ('person', 'policy') OR o.claim_seq = i.claim_seq)`]],
      seen: { held: 0, state: 'queued', number: '2', kept: 0 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        await rig.query(`UPDATE operations SET state = 'queued'`);
        return await settle(rig, statement);
      },
    },
    {
      guard: 'what a provider really said is kept, even when the claim is lost',
      cuts: [[`i.step NOT IN ('person', 'policy') OR `, '']],
      seen: { held: 0, state: 'unknown', number: '2', kept: 1 },
      scenario: async (rig, statement) => {
        await unknown(rig);
        return await settle(rig, statement, { claimSeq: '1', step: 'lookup' });
      },
    },
    {
      guard: 'what may be sent again may be so at once',
      cuts: [[`CASE WHEN i.state = 'queued' THEN now() ELSE o.not_before END`, 'o.not_before']],
      seen: true,
      scenario: async (rig, statement) => {
        await unknown(rig);
        await rig.query(`UPDATE operations SET not_before = now() + interval '1 hour'`);
        await settle(rig, statement, { state: 'queued' });
        const [row] = await rig.query<{ due: boolean }>('SELECT not_before <= now() AS due FROM operations');
        return row?.due;
      },
    },
    {
      guard: 'a wait makes it no younger',
      cuts: [[`CASE WHEN i.state = 'unknown' THEN o.changed_at ELSE now() END`, 'now()']],
      seen: true,
      scenario: async (rig, statement) => {
        await unknown(rig);
        await rig.query(`UPDATE operations SET changed_at = now() - interval '1 hour'`);
        await settle(rig, statement, { state: 'unknown' });
        const [row] = await rig.query<{ old: boolean }>(
          `SELECT changed_at < now() - interval '59 minutes' AS old FROM operations`,
        );
        return row?.old;
      },
    },
  ],
};
