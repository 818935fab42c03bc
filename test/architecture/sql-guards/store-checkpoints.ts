import type { DispatchRig } from '../../support/dispatch-rig.ts';
import type { AnyStatement, GuardedStatement } from './guard-case.ts';
import { unknownByHand } from './resolve.ts';

async function checkpoint(
  rig: DispatchRig,
  statement: AnyStatement,
  results: readonly (string | null)[],
): Promise<unknown> {
  const { operation_id } = await rig.operation('a');
  for (const result of results) {
    await statement.run(rig.dataSource, {
      tenants: ['demo'],
      operation_ids: [operation_id],
      steps: [0],
      names: ['one'],
      versions: [1],
      input_hashes: [null],
      results: [result],
      effect_ids: [null],
      claim_seqs: ['1'],
    });
  }
  return (await rig.query<{ result: unknown }>('SELECT result FROM checkpoints')).map((row) => row.result);
}

export const storeCheckpoints: GuardedStatement = {
  file: 'operations/steps/store-checkpoints.sql',
  cases: [
    {
      guard: 'the first answer stays',
      cuts: [['c.result IS NULL AND ', '']],
      seen: [1],
      scenario: async (rig, statement) => {
        await unknownByHand(rig);
        return await checkpoint(rig, statement, [null, '1', '2']);
      },
    },
    {
      guard: 'an answer is not lost to one that is not known',
      cuts: [
        [' AND excluded.result IS NOT NULL', ''],
        ['c.result IS NULL', 'true'],
      ],
      seen: [1],
      scenario: async (rig, statement) => {
        await unknownByHand(rig);
        return await checkpoint(rig, statement, ['1', null]);
      },
    },
    {
      guard: 'nothing of what was scrubbed',
      cuts: [['WHERE o.scrubbed_at IS NULL\n', '']],
      seen: [],
      scenario: async (rig, statement) => {
        await unknownByHand(rig, 'UPDATE operations SET scrubbed_at = now()');
        return await checkpoint(rig, statement, ['1']);
      },
    },
  ],
};
