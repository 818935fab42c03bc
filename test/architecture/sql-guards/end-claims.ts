import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, claimByHand, fenceOf, type AnyStatement, type GuardedStatement } from './guard-case.ts';

async function end(rig: DispatchRig, statement: AnyStatement, claimSeq?: string): Promise<unknown> {
  const fence = await fenceOf(rig, 'a', claimSeq);
  const rows = await statement.run(rig.dataSource, { ...fence, states: ['suppressed'], reasons: ['all: manual'] });
  const { state, claim_seq } = await rig.operation('a');
  return { ended: rows.length, state, number: claim_seq };
}

export const endClaims: GuardedStatement = {
  file: 'dispatch/end-claims.sql',
  cases: [
    {
      guard: 'the claim number',
      cuts: [[' AND o.claim_seq = i.claim_seq', '']],
      seen: { ended: 0, state: 'claimed', number: '2' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        await claimByHand(rig, 'a');
        return await end(rig, statement, '1');
      },
    },
    {
      guard: 'only what is claimed: what is being called has its result to come',
      cuts: [[` AND o.state = 'claimed'`, '']],
      seen: { ended: 0, state: 'calling', number: '1' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        return await end(rig, statement);
      },
    },
    {
      guard: 'a new claim number',
      cuts: [['claim_seq = o.claim_seq + 1, ', '']],
      seen: { ended: 1, state: 'suppressed', number: '2' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        return await end(rig, statement);
      },
    },
  ],
};
