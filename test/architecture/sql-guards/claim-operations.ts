import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { claimByHand, whileHeld, WORKER, type AnyStatement, type GuardedStatement } from './guard-case.ts';

const parameters = { tenant: 'demo', provider: 'main', limit: 10, worker: WORKER, lease_seconds: 60 };

async function claimed(
  rig: DispatchRig,
  statement: AnyStatement,
  change: Partial<typeof parameters> = {},
): Promise<unknown[]> {
  const rows = await statement.run(rig.dataSource, { ...parameters, ...change });
  return rows.map((row) => row['operation_key']);
}

export const claimOperations: GuardedStatement = {
  file: 'dispatch/claim-operations.sql',
  cases: [
    {
      guard: 'only what is queued',
      cuts: [
        [`o.state = 'queued' AND `, ''],
        [` AND o.state = d.state`, ''],
      ],
      seen: ['free'],
      scenario: async (rig, statement) => {
        await rig.request(['taken', 'free']);
        await claimByHand(rig, 'taken');
        return await claimed(rig, statement);
      },
    },
    {
      guard: 'not before its time',
      cuts: [[' AND o.not_before <= now()', '']],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.request(['later'], { notBefore: '2100-01-01T00:00:00Z' });
        return await claimed(rig, statement);
      },
    },
    {
      guard: 'only campaigns that are sending',
      cuts: [[` AND c.state = 'sending'`, '']],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await rig.query(`UPDATE campaigns SET state = 'paused'`);
        return await claimed(rig, statement);
      },
    },
    {
      guard: 'only this tenant',
      cuts: [['WHERE o.tenant_id = :tenant AND ', 'WHERE ']],
      seen: ['mine'],
      scenario: async (rig, statement) => {
        await rig.request(['mine']);
        await rig.request(['theirs'], { tenantId: 'other' });
        return await claimed(rig, statement);
      },
    },
    {
      guard: 'only this provider',
      cuts: [['o.provider = :provider AND ', `:provider::text IS NOT NULL AND `]],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.request(['elsewhere'], { provider: 'second' });
        return await claimed(rig, statement);
      },
    },
    {
      guard: 'a new claim number',
      cuts: [['claim_seq = o.claim_seq + 1', 'claim_seq = greatest(o.claim_seq, 1)']],
      seen: ['1', '2'],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        const numbers: unknown[] = [];
        for (let turn = 0; turn < 2; turn++) {
          const rows = await statement.run(rig.dataSource, parameters);
          numbers.push(rows[0]?.['claim_seq']);
          await rig.query(`UPDATE operations SET state = 'queued', claimed_by = NULL, lease_until = NULL`);
        }
        return numbers;
      },
    },
    {
      guard: 'SKIP LOCKED: no claimer waits for another',
      cuts: [[' SKIP LOCKED', '']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.request(['held', 'free']);
        const hold = `UPDATE operations SET changed_at = now() WHERE operation_key = 'held'`;
        return (await whileHeld(rig, hold, async () => await claimed(rig, statement))).waited;
      },
    },
    {
      guard: 'higher priority first',
      cuts: [['o.priority DESC, ', '']],
      seen: ['urgent'],
      scenario: async (rig, statement) => {
        await rig.request(['first'], { notBefore: '2020-01-01T00:00:00Z' });
        await rig.request(['urgent'], { priority: 9 });
        return await claimed(rig, statement, { limit: 1 });
      },
    },
    {
      guard: 'single operations before campaigns',
      cuts: [['ORDER BY s.rank', 'ORDER BY s.rank DESC']],
      seen: ['single'],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a', 'b']);
        await rig.request(['single']);
        return await claimed(rig, statement, { limit: 1 });
      },
    },
    {
      guard: 'campaigns in equal parts',
      cuts: [['ceil(:limit::numeric / count(*) OVER ())::integer', ':limit::integer']],
      seen: [2, 2],
      scenario: async (rig, statement) => {
        await rig.campaign('first', ['a1', 'a2', 'a3', 'a4']);
        await rig.campaign('second', ['b1', 'b2', 'b3', 'b4']);
        const keys = await claimed(rig, statement, { limit: 4 });
        return ['a', 'b'].map((letter) => keys.filter((key) => String(key).startsWith(letter)).length);
      },
    },
    {
      guard: 'a campaign that has nothing due takes no part',
      cuts: [["\n        AND q.state = 'queued' AND q.not_before <= now()", '']],
      seen: 4,
      scenario: async (rig, statement) => {
        await rig.campaign('busy', ['a1', 'a2', 'a3', 'a4']);
        await rig.campaign('waiting', ['b1'], { notBefore: '2100-01-01T00:00:00Z' });
        return (await claimed(rig, statement, { limit: 4 })).length;
      },
    },
  ],
};
